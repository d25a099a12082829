-- Only what must be there before first use: the command and the <Plug> maps. The rest loads when it is called.
if vim.g.loaded_agentls then
  return
end
vim.g.loaded_agentls = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify("agentls needs Neovim 0.10 or later.", vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command("Agent", function(args)
  require("agentls.command").run(args)
end, {
  desc = "Talk to AI coding agents",
  nargs = "*",
  range = true,
  complete = function(...)
    return require("agentls.command").complete(...)
  end,
})

local maps = {
  { "chat", "Open or close the chat" },
  { "new", "Start a session" },
  { "send", "Send a prompt", { "n", "x" } },
  { "stop", "Stop the running turn" },
  { "asks", "Answer what agents ask" },
  { "allow", "Allow the oldest ask" },
  { "reject", "Reject the oldest ask" },
  { "sessions", "Choose a session" },
  { "resume", "Take up a past session" },
  { "search", "Search in all sessions" },
  { "changes", "List what agents changed" },
  { "diff", "Compare before and after" },
  { "keep", "Keep the change here", { "n", "x" } },
  { "undo", "Undo the change here", { "n", "x" } },
  { "redo", "Do again what was undone" },
}
for _, map in ipairs(maps) do
  local name, desc, modes = map[1], map[2], map[3] or "n"
  vim.keymap.set(modes, ("<Plug>(agentls-%s)"):format(name), ":Agent " .. name .. "<CR>", {
    desc = desc,
    silent = true,
  })
end
for name, step in pairs({ next = 1, previous = -1 }) do
  vim.keymap.set("n", ("<Plug>(agentls-%s-change)"):format(name), function()
    require("agentls.changes.motions").move(step)
  end, { desc = "Go to the " .. name .. " change of an agent" })
end
