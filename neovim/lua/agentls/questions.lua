---Answers to what agents want to know.
local M = {}

local client = require("agentls.client")
local methods = require("agentls.protocol").methods

---@param id string
---@param text string?
local function reply(id, text)
  if text and vim.trim(text) ~= "" then
    client.request(methods.question_answer, { questionId = id, text = text }, function(error)
      if error then
        require("agentls.notice").error(error.message)
      end
    end)
  end
end

---@param entry agentls.QuestionEntry
function M.answer(entry)
  local options = entry.options or {}
  local function words()
    vim.ui.input({ prompt = "Your answer: " }, function(text)
      reply(entry.questionId, text)
    end)
  end
  if #options == 0 then
    return words()
  end
  local other = "Something else…"
  vim.ui.select(vim.list_extend(vim.list_slice(options), { other }), { prompt = entry.text }, function(choice)
    if choice == other then
      words()
    else
      reply(entry.questionId, choice)
    end
  end)
end

return M
