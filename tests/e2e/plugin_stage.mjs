// Plays OpenCode for its plugin: a line of JSON in, a call of one of the plugin's hooks; a line out, what became of it.
//   {"call": HOOK, "input": …, "output": …} -> {"output": …, "ms": …, "threw": false}
//   {"client": "stores" | "refuses" | "none"} -> {"stored": [parts]}
import readline from "node:readline"

const [file] = process.argv.slice(2)
const stored = []
let mode = "stores"
const client = {
  session: { get: async ({ path }) => ({ data: { id: path.id, version: "1.18.33", parentID: path.id.startsWith("ses_child") ? "ses_1" : undefined } }) },
  get _client() {
    if (mode === "none") return undefined
    return {
      patch: async ({ body }) => {
        if (mode === "refuses") throw new Error("no")
        stored.push(body)
        return { data: body }
      },
    }
  },
}
const module = await import(file)
const [plugin] = Object.values(module)
const hooks = await plugin({ client, directory: "/p", worktree: "/p" })

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { call, input, output, client: wanted } = JSON.parse(line)
  let answer
  if (wanted) {
    mode = wanted
    answer = { stored }
  } else if (call === "hooks") {
    answer = { output: Object.keys(hooks) }
  } else {
    const begun = performance.now()
    let threw = false
    try {
      await hooks[call](input, output)
    } catch {
      threw = true
    }
    answer = { output, ms: performance.now() - begun, threw }
  }
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`)
}
process.exit(0)
