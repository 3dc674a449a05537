import { expect, test } from 'vitest';
import { doingsTable } from './doings.ts';
import { noFigures } from './figures.ts';

test('a gateway without figures says why', () => {
  const columns = [{ name: 'nginx', version: '1.2.3', figures: noFigures() }];
  const lines = doingsTable(columns, new Map([['Bifrost', 'its program was not there']])).split(
    '\n',
  );
  const line = (name: string) => lines.find((one) => one.startsWith(`| ${name}`));
  expect(line('nginx 1.2.3 ')).toMatch(/\| forwards \|$/);
  expect(line('Bifrost ')).toMatch(/\| not run: its program was not there \|$/);
  expect(line('new-api ')).toMatch(/\| not run: no package registry has it/);
});
