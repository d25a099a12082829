---Finds the server: what was configured, on PATH, in a virtual environment, in this checkout, or by uvx.
local M = {}

M.advice = "Install it with `uv tool install agentls` or `pipx install agentls`, "
  .. "or set vim.g.agentls = { cmd = { '/path/to/agentls' } }."

---@class agentls.Found
---@field cmd string[]
---@field how string

---Never the folder that is open: a repository must not choose a program that we run.
---@return fun(): string?, string? candidates, and in what words they are found
local function candidates()
  local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
  local places = {
    { "agentls", "on PATH" },
    { vim.env.VIRTUAL_ENV and vim.env.VIRTUAL_ENV .. "/bin/agentls", "in the virtual environment" },
    { here .. "/.venv/bin/agentls", "in .venv of the plugin's checkout" },
  }
  local i = 0
  return function()
    repeat
      i = i + 1
    until i > #places or places[i][1]
    if places[i] then
      return places[i][1], places[i][2]
    end
  end
end

---@return agentls.Found?
function M.find()
  local configured = require("agentls.config").get().cmd
  if configured then
    if vim.fn.executable(configured[1]) == 1 then
      return { cmd = configured, how = "as configured" }
    end
    return nil
  end
  for path, how in candidates() do
    local full = vim.fn.exepath(path)
    if full ~= "" then
      return { cmd = { full }, how = how }
    end
  end
  if vim.fn.executable("uvx") == 1 then
    return { cmd = { "uvx", "agentls" }, how = "with uvx" }
  end
  return nil
end

return M
