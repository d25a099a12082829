-- For Neovim 0.11 and later: `vim.lsp.config("agentls", …)` adds to this.
return require("agentls.client").config()
