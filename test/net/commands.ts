import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandWord } from '../../src/cli/command-word.ts';
import { type Build, command, type Ended, type Place, serve } from './build.ts';
import type { Records } from './client.ts';
import { Placeholders } from './placeholders.ts';
import { parsed } from './recordings.ts';

/** Exit code, standard output and standard error, without the parts that differ in each run. */
function told({ code, out, error }: Ended, build: Build, names: Placeholders): string {
  const { folder, scratch } = build;
  // Commands are printed as this machine starts them.
  const word = commandWord({
    env: process.env,
    script: join(folder, 'bin', 'tollgate.js'),
    folder: scratch,
    node: process.execPath,
  });
  const plain = (text: string): string =>
    names
      .in(text.replaceAll(scratch, '<scratch>').replaceAll(word, 'tollgate'))
      .replaceAll(/\d+(\.\d+)? ms\b/g, '<measured> ms');
  return `exit ${code}\n${plain(out)}--- standard error\n${plain(error)}`;
}

/** Every command that `--help` names, however deep, with its help. */
async function recordHelp(
  build: Build,
  place: Place,
  path: readonly string[],
  records: Records,
): Promise<void> {
  const ended = await command(build, [...path, '--help'], place);
  records.set(`command ${[...path, '--help'].join(' ')}`, told(ended, build, new Placeholders()));
  const below = /^Commands:\n((?: .*\n?)*)/m.exec(ended.out)?.[1] ?? '';
  const names = [...below.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  for (const name of names) await recordHelp(build, place, [...path, name], records);
}

/** Configuration files, good and bad, by what they show. */
const configurations: Readonly<Record<string, string>> = {
  good: `groups: [{ name: default, price_multiplier: 1.0, limits: { rpm: 600 } }, { name: partners, price_multiplier: 0.85, policy: cost }]
models:
  - { id: a, owned_by: x, kind: chat, context: 128000, max_output: 8192, price: { input: 2, cached_input: 0.2, output: 3, tiers: [{ above_input_tokens: 1000, times: 2 }] } }
  - { id: b, owned_by: x, kind: image, price: { image: 0.28, by: { 1024x1024/hd: 0.56 } } }
  - { id: c, owned_by: x, kind: chat, price: { input: 1, output: 1, modes: { flex: { times: 1/2 } }, windows: [{ name: night, zone: Asia/Shanghai, from: "00:00", to: "08:00", times: 1/2 }] } }
channels:
  - { name: one, vendor: openai-compatible, base_url: "http://127.0.0.1:9/v1", models: [a, b, { id: c, upstream: d }], costs: { a: { input: 1, output: 1 } } }
`,
  empty: '',
  'no yaml': 'groups: [',
  'another value': 'groups: 7\nmodels: x\nchannels: { a: b }\n',
  'all that is wrong': `groups:
  - { name: default, price_multiplier: 0.1234567, limit: { rpm: 60 } }
models:
  - { id: m1, kind: chat, price: { inptu: 2, output: 3 } }
  - { id: m2, kind: chat, price: { output: 3 } }
  - { id: m3, kind: chat }
  - { id: m4, price: { input: -1, output: 0.0000000001 } }
  - { id: m5, kind: nothing, hedge_after_ms: x, shutdown_date: soon, price: { request: 1, modes: { slow: 1 }, places: 7, windows: [{}], tiers: [{ times: 2 }] } }
channels:
  - { name: a, vendor: opnai, api_key: "\${MY_KEY}", groups: [defualt], models: [m2, m5-large] }
  - { name: a, vendor: vllm, models: [m2], priority: -1, weight: 1.5, base_url: "ftp://x" }
  - { vendor: openai }
  - { name: kling, vendor: kling, api_key: x, models: [{ upstream: y }] }
calendars: [{ name: c, known_until: never, days: [x] }]
signin: { methods: [nothing] }
payments: { alipay: {} }
notices: { to: x }
media: { x: 1 }
video: { x: 1 }
nothing: true
`,
};

const litellm = `model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: odd, litellm_params: { model: unknown/thing } }
`;
const prices =
  '{"a":{"input_cost_per_token":0.000001,"output_cost_per_token":0.000002,"litellm_provider":"openai","mode":"chat"}}';

/** At this point a gateway serves the good configuration once, so that groups exist. */
const served = '(serve)';

/** Commands in the order of their use. `$name` is an id that an earlier one printed. */
const lives: readonly string[] = [
  '--version',
  'nothing',
  'user',
  'user create',
  'user list --json',
  'serve --port x',
  'serve --workers 0',
  'serve --config nowhere.yaml',
  'migrate --json',
  'migrate',
  served,
  'user create --name first --json => user',
  'user create --name second --role operator',
  'user create --name third --role king',
  'user create --name=',
  'user credit --user $user --amount 10.00 --reason gift --id once --json',
  'user credit --user $user --amount 10.00 --reason gift --id once --json',
  'user credit --user $user --amount 10.00 --reason gift',
  'user credit --user $user --amount ten --reason gift',
  'user credit --user $user --amount -1 --reason gift',
  'user credit --user usr_nobody --amount 1 --reason gift',
  'user list --json',
  'user list',
  'key create --user $user --group default --json => key',
  'key create --user $user --group default --name all --expires 2027-01-31 --limit 5 --daily-limit 1 --monthly-limit 2 --models a,b --addresses 10.0.0.0/8,::1 --rpm 7 --tpm 8 --concurrency 9 --json => limited',
  'key create --user $user --group default',
  'key create --user $user --group nowhere',
  'key create --user usr_nobody --group default',
  'key create --user $user --group default --expires soon',
  'key create --user $user --group default --limit x --addresses y --rpm z',
  'key limit $limited --limit 7 --daily-limit 2 --json',
  'key limit $limited --limit 8',
  'key limit $key --limit 8',
  'key limit key_nobody --limit 8',
  'key disable $key --json',
  'key disable key_nobody',
  'key list --json',
  'key list',
  'link --user $user --json',
  'link --user $user --host :: --port 8080',
  'link --user usr_nobody',
  'check --json',
  'check',
  'backup copy.db --json',
  'backup copy.db',
  'prices import prices.json --dry-run --json',
  'prices import prices.json --rate 7',
  'prices import nowhere.json',
  'import litellm litellm.yaml --rate 7',
  'import litellm litellm.yaml --rate 7 --out made.yaml --json',
  'import litellm nowhere.yaml',
  'import new-api nowhere.db',
  'import new-api nowhere.db --apply --json',
];

export async function recordCommands(build: Build): Promise<Records> {
  const records: Records = new Map();
  const place = { data: join(build.scratch, 'commands') };
  mkdirSync(place.data, { recursive: true });
  await recordHelp(build, place, [], records);
  for (const [name, text] of Object.entries(configurations)) {
    const file = join(build.scratch, `${name.replaceAll(' ', '-')}.yaml`);
    writeFileSync(file, text);
    for (const json of [[], ['--json']]) {
      const ended = await command(build, ['config', 'check', file, ...json], place);
      records.set(
        `command config check, ${name} ${json.join('')}`,
        told(ended, build, new Placeholders()),
      );
    }
  }
  writeFileSync(join(build.scratch, 'litellm.yaml'), litellm);
  writeFileSync(join(build.scratch, 'prices.json'), prices);
  await live(build, place, records);
  records.set(
    'command import litellm, the file',
    readFileSync(join(build.scratch, 'made.yaml'), 'utf8'),
  );
  return records;
}

async function live(build: Build, place: Place, records: Records): Promise<void> {
  const kept = new Map<string, string>();
  const names = new Placeholders();
  for (const [index, line] of lives.entries()) {
    if (line === served) {
      const gateway = await serve(build, ['--config', join(build.scratch, 'good.yaml')], place);
      records.set('command serve', `exit ${await gateway.stop()}\n`);
      continue;
    }
    const [said = '', keep] = line.split(' => ');
    const args = said
      .split(' ')
      .map((word) => (word.startsWith('$') ? (kept.get(word.slice(1)) ?? word) : word));
    const ended = await command(build, args, place);
    if (keep !== undefined) kept.set(keep, parsed(ended.out)?.id ?? 'none');
    records.set(`command ${index} ${said}`, told(ended, build, names));
  }
}
