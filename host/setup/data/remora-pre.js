// The OpenCode plugin of remora-pre: tells the daemon what happens in a session, and puts what the daemon answers into
// the next request. One file, nothing to install: the runtime's own modules and the daemon's Unix socket.
//
// Where the text goes: into the conversation that is about to be sent, once. After a prompt it is one more synthetic part
// of the user's message; after tools it stands behind the last result. Never in the system prompt, and never in the
// requests that OpenCode makes for itself (titles, summaries) or for subagents.
//
// How it is kept: OpenCode's record of that message gets one more part of ours, a synthetic text that is empty and has our
// text in its metadata. OpenCode shows such a part nowhere; prompts and results in its record stay as they were (a result
// that is changed there is printed a second time). Before each request these parts are taken out, and their texts put
// where they stood: later requests, a resumed session and a copy of it repeat the same bytes.
//
// OpenCode waits for hooks and fails when one does: nothing here throws, and no wait is longer than PATIENCE_MS. When the
// daemon is absent, slow or hung, the session goes on without it, and after a wait that came to nothing it is left alone
// for a while. Nothing is started from here.

import fs from "node:fs"
import net from "node:net"
import path from "node:path"

const NAME = "remora-pre"
const SOCKET_FILE = "remora-pre.sock"
const HTTP_SOCKET_FILE = "remora-pre-http.sock"
const ENVIRONMENT = "REMORA_PRE_"
const HOST = "opencode"

const PATIENCE_MS = 500 // for an answer that a request waits for
const LEISURE_MS = 5_000 // for one that nobody waits for
const BLOCKED_MS = 100 // a timer that is later than this shows that the process was busy: what has come is read first
const LOOKUP_MS = 300 // for OpenCode's own answer about a session
const GOODBYE_MS = 300
const RESTS_MS = [5_000, 30_000, 120_000] // after waits that came to nothing, one after the other
const FRAME_CHARACTERS = 900_000
const TEXT_CHARACTERS = 64_000 // of one text; the daemon keeps no more of it
const ADDRESS_BYTES = 103
const SESSIONS = 256
const PARTS = 4096
const FRAME = new RegExp(`<${NAME}-memory [^<>"\\\\]{1,80}>`, "g") // opens a text of ours
const BACKLOG = 256 // calls that did not arrive and are told again
const BACKLOG_CHARACTERS = 4_000_000
const ENDED = new Set(["completed", "error"])

// ------------------------------------------------------------------------------------------------- where the daemon is

function crc32(bytes) {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1))
  }
  return (~sum >>> 0).toString(16).padStart(8, "0")
}

/** Whether only we may write into this folder. A symbolic link is never followed. */
function safe(folder, uid) {
  try {
    const found = fs.lstatSync(folder)
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0
  } catch {
    return false
  }
}

function short(folder, file, uid) {
  const longest = Math.max(Buffer.byteLength(file), HTTP_SOCKET_FILE.length)
  if (Buffer.byteLength(folder) + 1 + longest <= ADDRESS_BYTES) return path.join(folder, file)
  return path.join("/tmp", `${NAME}-${uid}-${crc32(Buffer.from(path.join(folder, file)))}`, SOCKET_FILE)
}

/** The socket's path, found as the daemon itself finds it. */
function socketPath(environment, uid) {
  const chosen = environment[`${ENVIRONMENT}SOCKET`]
  if (chosen) {
    const whole = path.resolve(chosen)
    return short(path.dirname(whole), path.basename(whole), uid)
  }
  const runtime = environment.XDG_RUNTIME_DIR ?? ""
  if (path.isAbsolute(runtime) && safe(runtime, uid)) return short(path.join(runtime, NAME), SOCKET_FILE, uid)
  const temporary = environment.TMPDIR ?? ""
  return short(path.join(path.isAbsolute(temporary) ? temporary : "/tmp", `${NAME}-${uid}`), SOCKET_FILE, uid)
}

/** One connection to the daemon, made when it is needed. Answers come in the order of the questions. */
class Link {
  constructor(file, uid) {
    this.file = file
    this.uid = uid
    this.socket = null
    this.heard = ""
    this.number = 0
    this.waiting = new Map()
    this.restUntil = 0
    this.misses = 0
  }

  /** The result; null when there is no daemon or no answer in time, {} when it refuses. Never rejects. */
  ask(method, params, patience = LEISURE_MS) {
    if (this.resting()) return Promise.resolve(null)
    const id = ++this.number
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params })
    if (line.length > FRAME_CHARACTERS) return Promise.resolve({})
    if (!this.connected()) return Promise.resolve(null)
    return new Promise((resolve) => {
      this.waiting.set(id, { resolve, timer: this.alarm(id, patience) })
      this.socket.write(`${line}\n`)
    })
  }

  resting() {
    return Date.now() < this.restUntil
  }

  alarm(id, patience) {
    const due = Date.now() + patience
    const timer = setTimeout(() => {
      const asked = this.waiting.get(id)
      if (!asked) return
      if (Date.now() - due > BLOCKED_MS) asked.timer = this.alarm(id, BLOCKED_MS)
      else this.tooLate()
    }, patience)
    timer.unref?.()
    return timer
  }

  connected() {
    if (this.socket) return true
    if (!safe(path.dirname(this.file), this.uid)) return false
    const socket = net.connect({ path: this.file })
    socket.setEncoding("utf8")
    socket.on("data", (text) => this.received(text))
    socket.on("error", () => this.lost(socket))
    socket.on("close", () => this.lost(socket))
    socket.unref?.()
    this.socket = socket
    this.heard = ""
    return true
  }

  received(text) {
    this.heard += text
    const lines = this.heard.split("\n")
    this.heard = lines.pop()
    for (const line of lines) {
      try {
        const answer = JSON.parse(line)
        this.settle(answer.id, answer.result ?? {})
        this.misses = 0
      } catch {
        // not an answer
      }
    }
  }

  settle(id, result) {
    const asked = this.waiting.get(id)
    if (!asked) return
    this.waiting.delete(id)
    clearTimeout(asked.timer)
    asked.resolve(result)
  }

  /** Nobody waits any more: the daemon sees that the connection is gone, and hands nothing over. */
  tooLate() {
    this.restUntil = Date.now() + RESTS_MS[Math.min(this.misses, RESTS_MS.length - 1)]
    this.misses++
    this.lost(this.socket)
  }

  lost(socket) {
    if (!socket || socket !== this.socket) return
    this.socket = null
    socket.destroy()
    for (const id of [...this.waiting.keys()]) this.settle(id, null)
  }
}

// ------------------------------------------------------------------------------------------------- what is told

function cut(text) {
  if (typeof text !== "string" || text.length <= TEXT_CHARACTERS) return text
  const head = Math.floor((TEXT_CHARACTERS * 3) / 4)
  return `${text.slice(0, head)}\n…\n${text.slice(head - TEXT_CHARACTERS)}`
}

function cutAll(value) {
  if (typeof value === "string") return cut(value)
  if (Array.isArray(value)) return value.map(cutAll)
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutAll(item)]))
  }
  return value
}

/** What the daemon needs of a part; null for parts that tell nothing, or not yet. */
function final(part) {
  const { id, messageID, sessionID, type } = part ?? {}
  if (type === "text" && part.time?.end && !part.synthetic && part.text) {
    return { id, messageID, sessionID, type, text: cut(part.text), time: part.time }
  }
  if (type === "tool" && ENDED.has(part.state?.status)) {
    const { status, input, output, error, title, time, metadata } = part.state
    const kept = { exit: metadata?.exit, truncated: metadata?.truncated, interrupted: metadata?.interrupted }
    const state = { status, input: cutAll(input), output: cut(output), error: cut(error), title, time, metadata: kept }
    return { id, messageID, sessionID, type, tool: part.tool, callID: part.callID, state }
  }
  return null
}

function endOf(part) {
  return part.state?.time?.end ?? part.time?.end ?? Infinity
}

/** Whether a message is OpenCode's own summary of a conversation, and nothing that the agent said. */
function isSummary(info) {
  return info.summary === true || info.mode === "compaction"
}

/** Whether a part is a tool's result that goes to the model as it stands: one that was cut off goes without its error. */
function hasResult(part) {
  return part.type === "tool" && ENDED.has(part.state?.status) && part.state.metadata?.interrupted !== true
}

/** The name of our part of a message: it stands last, and is the same however often it is kept. */
function idOfOurs(messageID) {
  return `prt_zz${messageID.replace(/^msg_?/, "")}`
}

function isOurs(part) {
  return part?.type === "text" && Boolean(part.metadata?.[NAME])
}

/** The text that a part of ours keeps, and the call whose result it stands behind; null when it makes no sense. */
function keptIn(part) {
  const { text, callID } = part.metadata[NAME]
  return typeof text === "string" && text && text.length <= TEXT_CHARACTERS ? { text, callID } : null
}

/** Of a prompt's parts, what a person may have said or attached. */
function said(parts) {
  return parts
    .filter((part) => part && !part.synthetic && (part.type === "text" || part.type === "file"))
    .map(({ id, type, text, mime }) => (type === "text" ? { id, type, text: cut(text) } : { id, type, mime }))
}

// ------------------------------------------------------------------------------------------------- the plugin

export const RemoraPre = async ({ client, directory }) => {
  const environment = process.env
  const uid = process.getuid?.()
  if (environment[`${ENVIRONMENT}INTERNAL`] === "1" || uid === undefined) return {}
  const link = new Link(socketPath(environment, uid), uid)
  const sessions = new Map()
  const backlog = []
  const sending = new Set()

  function sessionOf(id) {
    let session = sessions.get(id)
    if (session) sessions.delete(id)
    else {
      const own = { told: new Set(), texts: new Map(), last: null, summary: null }
      session = { id, known: false, parent: null, compacting: false, looked: false, since: 0, ...own }
    }
    sessions.set(id, session)
    if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value)
    return session
  }

  /** The session that this one was started for, however far up; null for one that a person talks to. */
  function rootOf(session) {
    let root = null
    for (let up = session.parent; up && up !== root && root !== session.id; up = sessions.get(up)?.parent) root = up
    return root
  }

  function tell(session, hook, input, output, patience = LEISURE_MS) {
    const payload = { hook, input, output, directory, session: session.id, root: rootOf(session) ?? undefined }
    if (!link.resting()) for (const late of backlog.splice(0)) send(late, LEISURE_MS)
    return send({ host: HOST, payload, acknowledge: patience === PATIENCE_MS }, patience)
  }

  function send(params, patience) {
    const sent = link.ask("hook", params, patience).then((answer) => {
      sending.delete(sent)
      if (answer === null) keep(params)
      return answer
    })
    sending.add(sent)
    return sent
  }

  /** What did not arrive is told again, when the daemon is there: as news, not as a question. */
  function keep({ host, payload }) {
    const output = payload.output?.ready ? { ...payload.output, ready: false } : payload.output
    backlog.push({ host, payload: { ...payload, output } })
    let room = BACKLOG_CHARACTERS
    const kept = backlog.findLastIndex((late) => (room -= JSON.stringify(late).length) < 0)
    backlog.splice(0, Math.max(kept + 1, backlog.length - BACKLOG))
  }

  /** Tell something once. */
  function tellOnce(session, key, hook, input, output) {
    if (session.told.has(key)) return
    mark(session, key)
    tell(session, hook, input, output)
  }

  function mark(session, key) {
    session.told.add(key)
    if (session.told.size > PARTS) session.told.delete(session.told.values().next().value)
  }

  /** What OpenCode itself knows of a session that was begun by another process. */
  async function meet(id) {
    const session = sessionOf(id)
    if (session.known) return session
    session.known = true
    const asked = Promise.resolve(client?.session?.get?.({ path: { id } })).catch(() => null)
    const patience = new Promise((resolve) => setTimeout(resolve, LOOKUP_MS, null).unref?.())
    const info = (await Promise.race([asked, patience]))?.data
    session.parent = info?.parentID ?? null
    tell(session, "session.resumed", { sessionID: id, info: { id, version: info?.version } }, null)
    return session
  }

  function observe({ type, properties }) {
    switch (type) {
      case "session.created": {
        const { id, parentID, version, time } = properties.info
        const session = sessionOf(id)
        session.since = time?.created ?? 0
        session.known = true
        session.parent = parentID ?? null
        tell(session, "event", { type, properties: { sessionID: id, info: { id, parentID, version } } }, null)
        break
      }
      case "message.updated": {
        const { id, role, sessionID } = properties.info
        if (role !== "assistant") break
        const session = sessionOf(sessionID)
        if (!isSummary(properties.info)) session.last = id
        else if (session.summary?.id !== id) session.summary = { id, text: "" }
        break
      }
      case "message.part.updated": {
        const part = final(properties.part)
        const session = part && sessionOf(part.sessionID)
        if (!session || endOf(part) < session.since) break // copied from another session: told as that one's
        if (part.messageID === session.summary?.id) session.summary.text = part.text ?? ""
        else if (part.type === "tool" || part.messageID === session.last) {
          tellOnce(session, part.id, "event", { type, properties: { part } }, null)
        }
        break
      }
      case "session.compacted":
      case "session.deleted":
      case "session.idle": {
        const sessionID = properties.sessionID ?? properties.info?.id
        const session = sessionOf(sessionID)
        session.compacting = false
        const { id, text } = (type === "session.compacted" && session.summary) || { id: session.last }
        tell(session, "event", { type, properties: { sessionID, messageID: id, text } }, null)
        break
      }
    }
  }

  /** What of the conversation was not told yet, from the last prompt on. */
  function news(session, messages) {
    const from = Math.max(0, messages.findLastIndex((message) => message.info.role === "user"))
    return messages.slice(from).flatMap(({ info, parts }) => {
      const { id, role, sessionID, agent, model, time } = info
      const told = { info: { id, role, sessionID, agent, model, time }, parts: [] }
      if (role === "user") {
        if (session.told.has(id)) return []
        told.parts = said(parts)
      } else if (!isSummary(info)) {
        told.parts = parts.map(final).filter((part) => part && !session.told.has(part.id))
      }
      return told.parts.length ? [told] : []
    })
  }

  /** Put a text where it belongs; messages are replaced, never changed: others hold them too. False: nowhere. */
  function put(messages, at, { text, callID }) {
    const message = messages[at]
    const { role, sessionID, id: messageID } = message.info
    if (role === "user") {
      const part = { id: idOfOurs(messageID), sessionID, messageID, type: "text", text, synthetic: true }
      messages[at] = { ...message, parts: [...message.parts, part] }
      return true
    }
    const place = message.parts.findLastIndex((part) => hasResult(part) && part.callID === callID)
    if (place < 0) return false
    const state = { ...message.parts[place].state }
    const field = state.status === "error" ? "error" : "output"
    if (String(state[field]).includes(text)) return false
    state[field] = `${state[field]}\n\n${text}`
    messages[at] = { ...message, parts: message.parts.with(place, { ...message.parts[place], state }) }
    return true
  }

  /** Where a text may go in this request: behind the prompt, or behind the result of that call. Null: nowhere. */
  function placeIn(messages) {
    const last = messages[messages.length - 1]
    if (last.info.role === "user") return {}
    const { callID } = last.parts.findLast(hasResult) ?? {}
    return callID ? { callID } : null
  }

  /** Keep a text in OpenCode's record. Until that is done, later requests get it from here. */
  function store(session, { sessionID, id: messageID }, kept) {
    session.texts.set(messageID, kept)
    const partID = idOfOurs(messageID)
    const metadata = { [NAME]: kept }
    const stored = client?._client?.patch?.({
      url: "/session/{sessionID}/message/{messageID}/part/{partID}",
      path: { sessionID, messageID, partID },
      body: { id: partID, sessionID, messageID, type: "text", text: "", synthetic: true, metadata },
      headers: { "Content-Type": "application/json" },
    })
    Promise.resolve(stored).catch(() => null)
  }

  /** Take our parts out, and put the texts that they keep where they stood. Returns the messages that have one. */
  function again(session, messages, wanted) {
    const having = new Set()
    for (const [at, message] of messages.entries()) {
      if (!Array.isArray(message?.parts)) continue
      const own = message.parts.filter(isOurs)
      if (own.length) messages[at] = { ...message, parts: message.parts.filter((part) => !isOurs(part)) }
      const kept = own.map(keptIn).find(Boolean) ?? session.texts.get(message.info.id)
      if (kept) having.add(message.info.id)
      if (kept && wanted) put(messages, at, kept)
    }
    return having
  }

  async function beforeRequest(messages) {
    const sessionID = messages[messages.length - 1]?.info?.sessionID
    if (!sessionID) {
      for (const session of sessions.values()) session.compacting = false
      return
    }
    const session = await meet(sessionID)
    const { compacting } = session
    session.compacting = false
    const having = again(session, messages, !compacting)
    if (compacting) return
    const fresh = news(session, messages)
    const last = messages[messages.length - 1].info
    const place = rootOf(session) || having.has(last.id) ? null : placeIn(messages)
    const output = { messages: fresh, last: { id: last.id, role: last.role }, ready: place !== null }
    if (!session.looked) output.shown = [...new Set(JSON.stringify(messages).match(FRAME) ?? [])]
    session.looked = true
    for (const { info, parts } of fresh) {
      if (info.role === "user") mark(session, info.id)
      else for (const part of parts) mark(session, part.id)
    }
    const hook = "experimental.chat.messages.transform"
    if (place === null) {
      if (fresh.length) tell(session, hook, {}, output)
      return
    }
    const answer = await tell(session, hook, {}, output, PATIENCE_MS)
    const text = answer?.output?.text
    if (typeof text !== "string" || !text) return
    const kept = { ...place, text }
    if (text.length > TEXT_CHARACTERS || !put(messages, messages.length - 1, kept)) {
      if (answer.claim) link.ask("inbox.release", answer.claim)
      return
    }
    store(session, last, kept)
    if (answer.claim) link.ask("inbox.delivered", answer.claim)
  }

  /** A hook that never throws and never rejects. */
  const guarded = (work) => async (input, output) => {
    try {
      await work(input, output)
    } catch {
      // the session goes on without us
    }
  }

  return {
    event: guarded(({ event }) => observe(event)),
    "chat.message": guarded(async ({ sessionID }, { message, parts }) => {
      const session = await meet(sessionID)
      const { id, role, agent, model, time } = message
      const told = { message: { id, role, sessionID, agent, model, time }, parts: said(parts) }
      tellOnce(session, id, "chat.message", { sessionID }, told)
    }),
    "experimental.session.compacting": guarded(({ sessionID }) => {
      sessionOf(sessionID).compacting = true
    }),
    "experimental.chat.messages.transform": guarded((_, { messages }) => beforeRequest(messages)),
    dispose: guarded(async () => {
      for (const session of sessions.values()) {
        if (session.known && !session.parent) tell(session, "dispose", { sessionID: session.id }, null)
      }
      const patience = new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref?.())
      await Promise.race([Promise.all(sending), patience])
    }),
  }
}
