-- Neovim 0.11 or later: put this into init.lua.
vim.lsp.config('waza', {
	cmd = { 'waza', 'lsp' },
	filetypes = { 'yaml', 'markdown' },
	root_markers = { '.waza.yaml', 'eval.yaml', '.git' },
	commands = {
		['waza.runTask'] = function(c)
			vim.cmd.terminal({ 'waza', 'run', c.arguments[1], '--task', c.arguments[2] })
		end,
		['waza.runSuite'] = function(c)
			vim.cmd.terminal({ 'waza', 'run', c.arguments[1] })
		end,
	},
})
vim.lsp.enable('waza')
