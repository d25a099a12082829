-- The plugin, with its chat open and the cursor in an ordinary window, as a person has it.
local when_done

Bench = {
  open = function()
    require("agentls").new({ agent = "bench" })
    vim.api.nvim_create_autocmd("User", {
      pattern = "AgentlsTurnEnd",
      callback = function()
        -- After everything that came in the same batch.
        vim.schedule(when_done)
      end,
    })
    vim.api.nvim_create_autocmd("User", {
      pattern = "AgentlsAsk",
      callback = function(args)
        local start = vim.uv.hrtime()
        local params = { askId = args.data.ask.id, verdict = "allow" }
        require("agentls").decide(params, function()
          table.insert(Bench.answers, (vim.uv.hrtime() - start) / 1e6)
        end)
      end,
    })
  end,
  ready = function()
    local session = require("agentls").sessions()[1]
    return session ~= nil and session.state == "idle" and Bench.buffer() ~= nil
  end,
  send = function(text, done)
    when_done = done
    require("agentls").send(text)
  end,
  buffer = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[buf].filetype == "agentls" then
        return buf
      end
    end
  end,
  answers = {},
  ---Open the output of the tool call, as <CR> does.
  show = function()
    local chat = require("agentls.chat").of_buffer(Bench.buffer())
    vim.api.nvim_set_current_win(vim.fn.bufwinid(chat.buf))
    vim.fn.search("a long output", "w")
    require("agentls.chat.details").open(chat)
  end,
}
