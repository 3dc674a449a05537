import { escapeHtml, folded } from '../../base/html.ts';
import { refusals } from '../../base/refusal.ts';
import { examples, operationOf, pathOf, type RouteId } from './document.ts';
import { operations } from './operations.ts';
import type { Operation, Schema } from '../schema.ts';

/**
 * The API reference: one page without scripts, made of the same routes as the document. `base`: the
 * gateway's address.
 */
export function renderApiPage(rows: readonly RouteId[], base: string, stylePath: string): string {
  const tags = [...new Set(rows.map((row) => operationOf(row).tag))];
  const sections = tags.map((tag) =>
    section(
      tag,
      rows.filter((row) => operationOf(row).tag === tag),
      base,
    ),
  );
  return folded`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Interface · Tollgate</title>
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><a href="/">Tollgate</a> <a href="/openapi.json">openapi.json</a></header>
<div class="columns">
<nav aria-label="Endpoints">
  ${tags.map((tag) => navigation(tag, rows)).join('')}
  <h2>More</h2>
  <ul><li><a href="#errors">Errors</a></li></ul>
  </nav>
<main id="content">
<h1>Interface</h1>
${introduction(base)}
${sections.join('\n')}
${errors()}
</main>
</div>
</body>
</html>
`;
}

function navigation(tag: string, rows: readonly RouteId[]): string {
  const items = rows
    .filter((row) => operationOf(row).tag === tag)
    .map((row) => `<li><a href="#${operationOf(row).id}">${title(row)}</a></li>`);
  return `<h2>${escapeHtml(tag)}</h2><ul>${items.join('')}</ul>`;
}

const title = (row: RouteId): string =>
  `<code>${row.method} ${escapeHtml(pathOf(row)).replaceAll('/', '/<wbr>')}</code>`;

function introduction(base: string): string {
  return folded`<p>The base address is <code>${escapeHtml(base)}/v1</code>. Each request carries
  a key, made in <a href="/">the console</a>, as <code>Authorization: Bearer KEY</code>.
  Bodies are JSON in UTF-8 unless another kind is named.</p>
<p>What is described here is checked before anything is paid for. Members that are not described
  are not looked at: they are passed on to the model’s vendor. Absent and <code>null</code> are the
  same. Every answer carries <code>x-request-id</code>.</p>`;
}

function section(tag: string, rows: readonly RouteId[], base: string): string {
  return folded`
    <section aria-label="${escapeHtml(tag)}">
      <h2>${escapeHtml(tag)}</h2>
      ${rows.map((row) => article(row, base)).join('\n')}
    </section>`;
}

function article(row: RouteId, base: string): string {
  const operation = operationOf(row);
  const { id, summary, description, path = {}, query = {}, body = {}, answer, once } = operation;
  const { note } = examples[id] ?? {};
  const places = Object.entries(path).map(
    ([name, description]) => [name, { type: 'string', description }] as const,
  );
  const said = [description, note].filter((part) => part !== undefined).join(' ');
  const text = said === '' ? '' : ` ${prose(said)}`;
  const shapes = (heading: string, types: Readonly<Record<string, Schema>>) =>
    Object.entries(types)
      .map(([type, schema]) => shape(id, `${heading}, ${type}`, schema))
      .join('');
  return folded`<article id="${id}">
  <h3>${title(row)}</h3>
  <p>${prose(summary)}.${text}</p>
${once ? onceText : ''}
${members(id, 'In the path', places)}${members(id, 'In the query', Object.entries(query))}
${shapes('Body', body)}
${shapes('Answer', answer)}
${sample(row, operation, base)}</article>`;
}

const onceText = folded`<p>With an <code>Idempotency-Key</code> (1 to 255 characters) it happens
  once within 24 hours, however often it is sent.</p>`;

function shape(id: string, heading: string, schema: Schema): string {
  const { properties, required = [], description = '' } = resolved(schema);
  if (properties === undefined)
    return `<h4>${escapeHtml(heading)}</h4><p>${prose(description)}</p>`;
  return members(id, heading, Object.entries(properties), new Set(required));
}

function members(
  id: string,
  heading: string,
  rows: readonly (readonly [string, Schema])[],
  required: ReadonlySet<unknown> = new Set(),
): string {
  if (rows.length === 0) return '';
  const lines = rows.map(([name, schema]) => {
    const { description = '' } = resolved(schema);
    const mark = required.has(name) ? ' <em>required</em>' : '';
    return folded`
      <tr>
        <th scope="row"><code>${escapeHtml(name)}</code>${mark}</th>
        <td>${prose(kindOf(schema))}</td>
        <td>${prose(description)}${inner(schema)}</td>
      </tr>`;
  });
  const label = escapeHtml(heading);
  return folded`
    <h4>${label}</h4>
    <div class="table" tabindex="0" role="region" aria-label="${id}: ${label}">
      <table><tbody>${lines.join('')}</tbody></table>
    </div>`;
}

/** The members of a nested object, or of the objects in a list, one level down. */
function inner(schema: Schema): string {
  const kinds = resolved(schema).anyOf ?? [schema];
  const within = kinds
    .map((kind) => resolved(resolved(kind).items ?? kind))
    .find(({ properties }) => properties !== undefined);
  if (within?.properties === undefined) return '';
  const lines = Object.entries(within.properties).map(
    ([name, member]) =>
      `<li><code>${escapeHtml(name)}</code>: ${prose(resolved(member).description ?? '')}</li>`,
  );
  return `<ul>${lines.join('')}</ul>`;
}

function kindOf(schema: Schema): string {
  const { type = [], enum: values, const: only, minimum, maximum, anyOf } = resolved(schema);
  if (anyOf !== undefined)
    return [...new Set(anyOf.map(kindOf).filter((kind) => kind !== 'null'))].join(' or ');
  if (only !== undefined) return `\`${only}\``;
  if (values !== undefined)
    return values.flatMap((one) => (one === null ? [] : [`\`${one}\``])).join(' ');
  const written = [type].flat();
  const kind =
    written.length === 1 ? written.join() : written.filter((one) => one !== 'null').join(' or ');
  if (minimum === undefined) return kind || 'any';
  return maximum === undefined
    ? `${kind}, ${minimum} or more`
    : `${kind}, ${minimum} to ${maximum}`;
}

function sample(row: RouteId, { id, body }: Operation, base: string): string {
  const { example } = examples[id] ?? {};
  if (example === undefined || body?.['application/json'] === undefined) return '';
  const command = [
    `curl ${base}${pathOf(row)} -H "authorization: Bearer $TOLLGATE_API_KEY"`,
    '-H "content-type: application/json"',
    `-d '${JSON.stringify(example)}'`,
  ].join(' \\\n  ');
  return folded`
    <h4>Example</h4>
    <pre tabindex="0" aria-label="Example of ${id}">${escapeHtml(command)}</pre>`;
}

function errors(): string {
  const lines = Object.entries(refusals).map(
    ([name, { status, code, message }]) => folded`
      <tr>
        <th scope="row">${String(status)}</th>
        <td><code>${name}</code></td>
        <td>${code === null ? '' : `<code>${code}</code>`}</td>
        <td>${escapeHtml(message)}</td>
      </tr>`,
  );
  return folded`<section id="errors" aria-label="Errors">
  <h2>Errors</h2>
  <p>Every answer that says no has
  one shape: <code>{"error": {"message", "type", "param", "code"}}</code>;
  below <code>/v1/messages</code> it
  is <code>{"type": "error", "error": {"type", "message"}, "request_id"}</code>,
  and for methods of models
  <code>{"error": {"code", "message", "status", "details"}}</code>.</p>
<div class="table" tabindex="0" role="region" aria-label="Refusals">
  <table>
    <thead>
      <tr>
        <th scope="col">status</th>
        <th scope="col">refusal</th>
        <th scope="col">code</th>
        <th scope="col">message</th>
      </tr>
    </thead>
    <tbody>${lines.join('')}</tbody>
  </table>
  </div></section>`;
}

const schemas: Readonly<Record<string, Schema>> = Object.assign(
  {},
  ...Object.values(operations).map((operation) => operation.schemas ?? {}),
);

/** The schema that a reference names, with the reference's own description where it has one. */
function resolved(schema: Schema): Schema {
  const { $ref, ...more } = schema;
  return $ref !== undefined
    ? { ...schemas[$ref.slice($ref.lastIndexOf('/') + 1)], ...more }
    : schema;
}

/** Backticks become code. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

/** The style of `/docs`: light and dark by the reader’s own setting, one column on a telephone. */
export const apiPageStyle = folded`
:root {
  color-scheme: light dark;
  --ink: light-dark(#1a1a1a, #ececec);
  --quiet: light-dark(#5c5c5c, #a8a8a8);
  --ground: light-dark(#fff, #141414);
  --raised: light-dark(#f5f5f3, #1f1f1f);
  --line: light-dark(#dedede, #363636);
  --link: light-dark(#0a58a8, #8ab8f0); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif;
  overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem; }
header { display: flex; gap: 1.5rem; padding: 1rem 1.25rem; border-bottom: 1px solid var(--line); }
.columns {
  display: grid;
  grid-template-columns: 19rem minmax(0, 1fr);
  max-width: 78rem;
  margin: 0 auto; }
nav {
  padding: 1rem 1.25rem;
  font-size: .875rem;
  position: sticky;
  top: 0;
  align-self: start;
  max-height: 100vh;
  overflow-y: auto; }
nav h2 {
  font-size: .8125rem;
  margin: 1.25rem 0 .25rem;
  color: var(--quiet);
  border: 0;
  padding: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .25rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 1rem 1.25rem 4rem; min-width: 0; }
h1 { font-size: 1.75rem; margin: .5rem 0; }
h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1.0625rem; margin: 2rem 0 .25rem; }
h4 { font-size: .875rem; margin: 1.25rem 0 .25rem; color: var(--quiet); font-weight: 600; }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; }
pre {
  background: var(--raised);
  padding: .875rem 1rem;
  overflow-x: auto;
  border-radius: 6px;
  white-space: pre;
  overflow-wrap: normal; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; overflow-wrap: normal; }
th, td {
  text-align: left;
  vertical-align: top;
  padding: .4rem .75rem .4rem 0;
  border-top: 1px solid var(--line);
  font-weight: 400; }
td:last-child { min-width: 14rem; }
td ul { margin: .25rem 0 0; padding-left: 1.1rem; color: var(--ink); }
em { color: var(--quiet); font-size: .8125rem; }
@media (max-width: 50rem) {
  .columns { display: block; }
  nav { position: static; max-height: none; border-bottom: 1px solid var(--line); } }
`;
