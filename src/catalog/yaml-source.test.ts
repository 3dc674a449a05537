import { describe, expect, it } from 'vitest';
import { readYaml } from './yaml-source.ts';

const plain = (text: string, environment = {}) =>
  JSON.parse(JSON.stringify(readYaml(text, environment).value));

describe('readYaml', () => {
  it('keeps numbers as they were written', () => {
    expect(plain('{ a: 0.10, b: 12345678901234567890, c: 1e-6, d: true, e: "x" }')).toEqual({
      a: '0.10',
      b: '12345678901234567890',
      c: '1e-6',
      d: true,
      e: 'x',
    });
  });

  it('counts a member without a value as absent', () => {
    expect(readYaml('a:\nb: ~').value).toEqual(
      Object.assign(Object.create(null), { a: undefined, b: undefined }),
    );
  });

  it('fills in variables in plain, quoted and bracketed text, whatever they hold', () => {
    const environment = { KEY: 'a: "b" # {c}', HOST: 'h', N: '5' };
    expect(
      plain(
        'a: ${KEY}\nb: { c: ${KEY}, d: "https://${HOST}:${N}/${HOST}" }\ne: [${N}, \'${N}\'] # ${MISSING}',
        environment,
      ),
    ).toEqual({
      a: environment.KEY,
      b: { c: environment.KEY, d: 'https://h:5/h' },
      e: ['5', '5'],
    });
    expect(plain('a: $${KEY} $KEY', environment)).toEqual({ a: '${KEY} $KEY' });
  });

  it('names the variable that is missing, empty or misspelt, and its line', () => {
    const { problems } = readYaml('a: 1\nb:\n  - { c: "${NOPE}" }\n  - ${EMPTY}\nd: ${not this}', {
      EMPTY: '',
    });
    expect(problems).toEqual([
      { line: 3, path: 'b[0].c', message: 'the environment variable NOPE is not set' },
      { line: 4, path: 'b[1]', message: 'the environment variable EMPTY is not set' },
      {
        line: 5,
        path: 'd',
        message: "'${not this}' does not name an environment variable (a plain ${ is written $${)",
      },
    ]);
  });

  it('tells the line of what is there, and of what surrounds what is not', () => {
    const source = readYaml('a:\n  b:\n    - c: 1\n    - c: 2\n      d: 3\n', {});
    expect(
      [['a'], ['a', 'b'], ['a', 'b', 1, 'd'], ['a', 'b', 1, 'x', 'y'], ['z']].map((path) =>
        source.lineOf(path),
      ),
    ).toEqual([1, 2, 5, 4, 1]);
  });

  it('reports what is not YAML by its line, twice named members included', () => {
    expect(readYaml('a: 1\nb: [1,\nc: 2', {}).problems[0]?.line).toBeGreaterThan(1);
    expect(readYaml('a: 1\nb: 2\na: 3', {}).problems).toMatchObject([
      { line: 3, message: expect.stringContaining('unique') },
    ]);
  });

  it('refuses a second document, which nothing would read', () => {
    expect(readYaml('a: 1\n---\nb: 2\n', {}).problems).toMatchObject([
      { line: 2, message: 'the file has more than one document: --- begins one' },
    ]);
    expect(plain('---\na: 1\n')).toEqual({ a: '1' });
  });

  it('tells a mistake once, however many brackets it leaves open', () => {
    const { problems } = readYaml('a: { b: [[\n', {});
    expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(problems.length);
  });

  it('follows aliases, and survives one that holds itself', () => {
    expect(plain('a: &x { b: 1 }\nc: *x')).toEqual({ a: { b: '1' }, c: { b: '1' } });
    expect(readYaml('a: &x [*x, *x]', {}).problems.length).toBeGreaterThan(0);
  });
});
