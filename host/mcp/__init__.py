"""The MCP server: memory that an agent asks for, and hooks that come as calls of a tool."""
