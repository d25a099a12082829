std = "luajit"
cache = false
max_line_length = 130
read_globals = { "vim" }
globals = { "vim.g", "vim.b", "vim.bo", "vim.wo", "vim.o", "vim.env", "vim.v" }
-- Handlers take what Neovim gives them.
unused_args = false
