-- The lower bound: the agent's pipe read by Neovim itself, each chunk appended as it comes, nothing else.
local buf, session, job
local waiting, last_id, rest = {}, 0, ""

local function post(message)
  message.jsonrpc = "2.0"
  job:write(vim.json.encode(message) .. "\n")
end

local function request(method, params, callback)
  last_id = last_id + 1
  waiting[last_id] = callback
  post({ id = last_id, method = method, params = params })
end

local function append(text)
  local row = vim.api.nvim_buf_line_count(buf) - 1
  local column = #vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  vim.api.nvim_buf_set_text(buf, row, column, row, column, vim.split(text, "\n", { plain = true }))
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
end

local function take(line)
  local message = vim.json.decode(line)
  if message.method == "session/update" then
    local update = message.params.update
    if update.sessionUpdate == "agent_message_chunk" then
      append(update.content.text)
    end
  elseif waiting[message.id] then
    waiting[message.id](message.result)
  end
end

Bench = {
  open = function(agent)
    buf = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_win_set_buf(0, buf)
    local function read(_, data)
      local lines = vim.split(rest .. (data or ""), "\n", { plain = true })
      rest = table.remove(lines)
      for _, line in ipairs(lines) do
        take(line)
      end
    end
    job = vim.system(agent, { stdin = true, stdout = vim.schedule_wrap(read) })
    request("initialize", { protocolVersion = 1, clientCapabilities = vim.empty_dict() }, function()
      request("session/new", { cwd = "/", mcpServers = {} }, function(result)
        session = result.sessionId
      end)
    end)
  end,
  ready = function()
    return session ~= nil
  end,
  send = function(text, done)
    request("session/prompt", { sessionId = session, prompt = { { type = "text", text = text } } }, done)
  end,
  buffer = function()
    return buf
  end,
}
