-- Measures from inside: how long the event loop stood still, and when a key was answered.
local channel = ...
local last, gap = vim.uv.hrtime(), 0
local timer = assert(vim.uv.new_timer())

timer:start(2, 2, function()
  local now = vim.uv.hrtime()
  gap = math.max(gap, now - last)
  last = now
end)
vim.keymap.set({ "n", "i" }, "<F12>", function()
  vim.rpcnotify(channel, "key")
end)

BenchProbe = {
  begin = function(text)
    gap, last = 0, vim.uv.hrtime()
    Bench.send(text, function()
      vim.rpcnotify(channel, "done")
    end)
  end,
  ---@return number milliseconds, the longest since the last time this was asked
  gap = function()
    local longest = gap / 1e6
    gap, last = 0, vim.uv.hrtime()
    return longest
  end,
}
