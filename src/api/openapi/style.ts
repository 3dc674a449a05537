/** Of `/docs`: light and dark by the reader’s own setting, one column on a telephone. */
export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1a1a1a, #ececec); --quiet: light-dark(#5c5c5c, #a8a8a8); --ground: light-dark(#fff, #141414); --raised: light-dark(#f5f5f3, #1f1f1f); --line: light-dark(#dedede, #363636); --link: light-dark(#0a58a8, #8ab8f0); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem; }
header { display: flex; gap: 1.5rem; padding: 1rem 1.25rem; border-bottom: 1px solid var(--line); }
.columns { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { padding: 1rem 1.25rem; font-size: .875rem; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; }
nav h2 { font-size: .8125rem; margin: 1.25rem 0 .25rem; color: var(--quiet); border: 0; padding: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .25rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 1rem 1.25rem 4rem; min-width: 0; }
h1 { font-size: 1.75rem; margin: .5rem 0; }
h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1.0625rem; margin: 2rem 0 .25rem; }
h4 { font-size: .875rem; margin: 1.25rem 0 .25rem; color: var(--quiet); font-weight: 600; }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; }
pre { background: var(--raised); padding: .875rem 1rem; overflow-x: auto; border-radius: 6px; white-space: pre; overflow-wrap: normal; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); font-weight: 400; }
td:last-child { min-width: 14rem; }
td ul { margin: .25rem 0 0; padding-left: 1.1rem; color: var(--ink); }
em { color: var(--quiet); font-size: .8125rem; }
@media (max-width: 50rem) { .columns { display: block; } nav { position: static; max-height: none; border-bottom: 1px solid var(--line); } }
`;
