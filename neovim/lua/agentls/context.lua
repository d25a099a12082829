---What a prompt carries beside its words: files, symbols, the selection, diagnostics, the diff.
---
---In a prompt they are written `@path`, `@symbol:Name`, `@selection`, `@diagnostics` and `@diff`.
local api = vim.api

local M = {}

local DIFF_LIMIT = 200 * 1024

---@return integer? the ordinary buffer that the person was in last
function M.last_file()
  local best, used
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local ordinary = vim.bo[info.bufnr].buftype == "" and info.name ~= ""
    if ordinary and (not used or info.lastused > used) then
      best, used = info.bufnr, info.lastused
    end
  end
  local here = api.nvim_get_current_buf()
  if vim.bo[here].buftype == "" and api.nvim_buf_get_name(here) ~= "" then
    return here
  end
  return best
end

---@param buf integer
---@return string
local function uri(buf)
  return vim.uri_from_bufnr(buf)
end

---@param name string
---@param at string
---@param text string
---@return agentls.ContentBlock
local function resource(name, at, text)
  return { kind = "resource", name = name, uri = at, mime = "text/plain", text = text }
end

---Lines of a buffer, with where they are from.
---@param buf integer
---@param first integer
---@param last integer
---@return agentls.ContentBlock
function M.lines(buf, first, last)
  local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
  local name = vim.fs.basename(api.nvim_buf_get_name(buf))
  local place = first == last and ("#L%d"):format(first) or ("#L%d-L%d"):format(first, last)
  return resource(name .. place, uri(buf) .. place, table.concat(lines, "\n"))
end

---@return agentls.ContentBlock?
local function selection()
  local buf = M.last_file()
  if not buf then
    return nil
  end
  local first = api.nvim_buf_get_mark(buf, "<")[1]
  local last = api.nvim_buf_get_mark(buf, ">")[1]
  if first == 0 or last < first then
    return nil
  end
  return M.lines(buf, first, last)
end

local severities = { "error", "warning", "info", "hint" }

---@return agentls.ContentBlock?
local function diagnostics()
  local buf = M.last_file()
  local own = {}
  for _, item in ipairs(buf and vim.diagnostic.get(buf) or {}) do
    if item.source ~= "agentls" then
      local text = item.message:gsub("\n", " ")
      table.insert(
        own,
        ("%d:%d: %s: %s"):format(item.lnum + 1, item.col + 1, severities[item.severity], text)
      )
    end
  end
  if not buf or #own == 0 then
    return nil
  end
  local name = vim.fs.basename(api.nvim_buf_get_name(buf))
  return resource("diagnostics of " .. name, uri(buf) .. "#diagnostics", table.concat(own, "\n"))
end

---@param done fun(block: agentls.ContentBlock?)
local function diff(done)
  local root = require("agentls.client").root()
  local ok = pcall(
    vim.system,
    { "git", "diff", "HEAD" },
    { cwd = root, text = true, timeout = 5000 },
    function(result)
      vim.schedule(function()
        local text = result.code == 0 and result.stdout or ""
        if text == "" then
          return done(nil)
        end
        if #text > DIFF_LIMIT then
          text = text:sub(1, DIFF_LIMIT) .. "\n… cut here\n"
        end
        done(resource("git diff", "git:diff", text))
      end)
    end
  )
  if not ok then
    done(nil)
  end
end

---@param name string
---@param done fun(block: agentls.ContentBlock?)
local function symbol(name, done)
  M.symbols(name, function(items)
    for _, item in ipairs(items) do
      if item.name == name then
        local line = item.location.range and (item.location.range.start.line + 1)
        local place = line and ("#L" .. line) or ""
        return done({ kind = "link", uri = item.location.uri .. place, name = name })
      end
    end
    done(nil)
  end)
end

---Symbols of the project, as far as other language servers know them.
---@param query string
---@param done fun(items: table[])
function M.symbols(query, done)
  local clients = vim.tbl_filter(function(client)
    return client.name ~= "agentls" and client.name ~= "agentls-prompt"
  end, vim.lsp.get_clients({ method = "workspace/symbol" }))
  local waiting, items = #clients, {}
  if waiting == 0 then
    return done(items)
  end
  for _, client in ipairs(clients) do
    local function answered(_, result)
      vim.list_extend(items, result or {})
      waiting = waiting - 1
      if waiting == 0 then
        done(items)
      end
    end
    local sent
    if vim.fn.has("nvim-0.11") == 1 then
      sent = client:request("workspace/symbol", { query = query }, answered)
    else
      sent = client.request("workspace/symbol", { query = query }, answered)
    end
    if not sent then
      answered(nil, nil)
    end
  end
end

---@param word string
---@return agentls.ContentBlock?
local function file(word)
  local path = word:gsub("[.,;:!?)]+$", "")
  for _, name in ipairs({ word, path }) do
    local full = vim.startswith(name, "/") and name or (require("agentls.client").root() .. "/" .. name)
    if name ~= "" and vim.uv.fs_stat(full) then
      return { kind = "link", uri = vim.uri_from_fname(full), name = name }
    end
  end
end

---Find what the `@` words of a prompt stand for. A word that stands for nothing stays a word.
---@param text string
---@param callback fun(blocks: agentls.ContentBlock[])
function M.resolve(text, callback)
  local words, seen = {}, {}
  for before, word in (" " .. text):gmatch("([%s(])@(%S+)") do
    if before and not seen[word] then
      seen[word] = true
      table.insert(words, word)
    end
  end
  local found, waiting = {}, #words
  if waiting == 0 then
    return callback({})
  end
  for i, word in ipairs(words) do
    local function done(block)
      found[i] = block
      waiting = waiting - 1
      if waiting == 0 then
        local blocks = {}
        for k = 1, #words do
          table.insert(blocks, found[k])
        end
        callback(blocks)
      end
    end
    if word == "selection" then
      done(selection())
    elseif word == "diagnostics" then
      done(diagnostics())
    elseif word == "diff" then
      diff(done)
    elseif vim.startswith(word, "symbol:") then
      symbol(word:sub(8), done)
    else
      done(file(word))
    end
  end
end

return M
