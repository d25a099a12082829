---`:checkhealth agentls`.
local M = {}

local function check_server(health)
  local server = require("agentls.server")
  local found = server.find()
  if not found then
    health.error("The agentls server was not found.", { server.advice })
    return
  end
  health.ok(("The server is %s, %s."):format(table.concat(found.cmd, " "), found.how))
  if found.cmd[1] == "uvx" then
    health.info("uvx downloads the server when it runs it first.")
    return
  end
  local command = vim.list_extend(vim.list_slice(found.cmd), { "--version" })
  local ok, result = pcall(function()
    return vim.system(command, { text = true, timeout = 10000 }):wait()
  end)
  if ok and result.code == 0 then
    health.ok(vim.trim(result.stdout))
  else
    health.error("The server does not run.", { ok and vim.trim(result.stderr or "") or tostring(result) })
  end
end

local function check_connection(health)
  if not package.loaded["agentls.client"] or not require("agentls.client").is_connected() then
    health.info("The server is not running; the first :Agent command starts it.")
    return
  end
  local count = #require("agentls.sessions").list()
  health.ok(("The server is running, with %d session%s."):format(count, count == 1 and "" or "s"))
end

function M.check()
  local health = vim.health
  health.start("agentls")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.10 or later is needed.")
  end
  local problems = require("agentls.config").problems()
  for _, problem in ipairs(problems) do
    health.warn(problem, { "See :help agentls-config" })
  end
  if #problems == 0 then
    health.ok("The configuration is right.")
  end
  check_server(health)
  check_connection(health)
end

return M
