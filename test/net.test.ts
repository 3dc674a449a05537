import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { recordExchanges } from './net/exchanges.ts';
import { Placeholders } from './net/placeholders.ts';
import { differences, differingDigests, digests, recordBuild, withBuild } from './net/record.ts';
import { recordingsFolder, shapes } from './net/recordings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const recordings = recordingsFolder === undefined ? [] : shapes(recordingsFolder);
const wholeMsMax = 900_000;

describe.skipIf(recordingsFolder === undefined)(
  'the built gateway, beside what was recorded of it',
  () => {
    test('does in every case what it did', { timeout: wholeMsMax }, async () => {
      const kept = readFileSync(new URL('net/digests.txt', import.meta.url), 'utf8');
      const records = await recordBuild(root, recordings);
      expect(
        differingDigests(kept, digests(records)),
        'test/net/README.md says how to see each difference',
      ).toEqual([]);
    });

    /** A build in which one word is another one, everywhere. */
    function changedBuild(scratch: string, word: string, other: string): string {
      const folder = join(scratch, 'changed');
      mkdirSync(join(folder, 'dist'), { recursive: true });
      cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      for (const file of readdirSync(join(root, 'dist')).filter((name) => /\.c?js$/.test(name))) {
        const text = readFileSync(join(root, 'dist', file), 'utf8');
        writeFileSync(
          join(folder, 'dist', file),
          text.replaceAll(word, () => other),
        );
      }
      return folder;
    }

    const one = recordings
      .filter(
        ({ endpoint, vendor, status }) =>
          endpoint === 'messages' && vendor === 'anthropic' && status === 200,
      )
      .slice(1, 2);
    const recorded = (word = '', other = '', processes = 0) =>
      withBuild(root, ({ scratch }) => {
        const folder = word === '' ? root : changedBuild(scratch, word, other);
        return recordExchanges({ folder, scratch, processes }, one);
      });

    let once: ReturnType<typeof recorded> | undefined;
    const unchanged = () => (once ??= recorded());

    test('other random numbers make no difference', { timeout: wholeMsMax }, async () => {
      expect(differences(await unchanged(), await recorded('', '', 50))).toEqual([]);
    });

    test.each([
      ['one byte of an answer', 'chat.completion"', 'chat.completioN"'],
      ['one header of an answer', 'access-control-allow-origin', 'access-control-allow-origim'],
      ['one header to a vendor', 'anthropic-version', 'anthropic-versiom'],
      ['one word of a transfer', 'revenue', 'revenuE'],
    ])('a build that changes %s is found', { timeout: wholeMsMax }, async (_, word, other) => {
      const [before, after] = [await unchanged(), await recorded(word, other)];
      expect(differences(before, before)).toEqual([]);
      expect(differences(before, after).join('')).toContain(other.replaceAll('"', ''));
      expect(differingDigests(digests(before), digests(after))).toEqual([`exchange ${one[0]?.id}`]);
    });
  },
);

describe('what two recordings are compared by', () => {
  test('ids of the gateway have places, those of vendors stay', () => {
    const names = new Placeholders();
    const text =
      'req_01a1f71c76000a0f070f040d0a000902 chatcmpl-01a1f71c76000a0f070f040d0a000902 call_ABCDEFGHIJKLMNOPAB call_xYz12';
    expect(names.in(text)).toBe('req_<hex 1> chatcmpl-<hex 1> call_<id 1> call_xYz12');
    expect(names.in('req_01a1f71c76000a0f070f040d0a000903')).toBe('req_<hex 2>');
  });

  test('a record that is gone, new or another is named', () => {
    const [before, after] = [
      new Map([
        ['a', 'x'],
        ['b', 'y'],
      ]),
      new Map([
        ['b', 'z'],
        ['c', 'x'],
      ]),
    ];
    expect(differences(before, after)).toHaveLength(3);
    expect(differingDigests(digests(before), digests(after))).toEqual(['a', 'b', 'c']);
  });

  test('without PostgreSQL on one side its schema is not compared', () => {
    const [before, after] = [new Map([['schema postgres columns a', 'x']]), new Map([['b', 'y']])];
    expect(differingDigests(digests(before), digests(after))).toEqual(['b']);
    expect(
      differingDigests(digests(before), digests(new Map([['schema postgres columns a', 'z']]))),
    ).toHaveLength(1);
  });
});
