"""The companion inside a program: adapters of agent frameworks, one module each. A framework is imported by the user's
own import of its module, and by nothing else of ours."""
