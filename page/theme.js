// theme: light or dark, as last chosen. Not a module: it runs before the page
// is drawn, so that the wrong theme never flashes.
(() => {
	const names = ['auto', 'light', 'dark'];
	let now = 'auto';
	try {
		now = localStorage.getItem('waza-theme') || now;
	} catch {
		// storage may be forbidden; then the choice is not remembered
	}

	function apply(name) {
		now = names.includes(name) ? name : 'auto';
		document.documentElement.dataset.theme = now;
	}

	window.wazaTheme = {
		get name() {
			return now;
		},
		next() {
			apply(names[(names.indexOf(now) + 1) % names.length]);
			try {
				localStorage.setItem('waza-theme', now);
			} catch {
				// as above
			}
			return now;
		},
	};
	apply(now);
})();
