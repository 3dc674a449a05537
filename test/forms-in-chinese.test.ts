import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import type { ErrorBody } from '../src/console/contract.ts';
import { refusedFields } from '../web/format/wrong-fields.ts';
import reasons from '../web/words/zh/reasons.ts';
import shared from '../web/words/zh/shared.ts';
import { onSqlite } from './databases.ts';
import { startOperatorConsole } from './support/console-operator.ts';
import { sold } from './support/console-user.ts';

/** A request of an operator's form, by its path, its body, and the fields that it shows. */
interface Fault {
  readonly path: string;
  readonly body: object;
  /** The version that a form of something stored changes. */
  readonly version?: number;
  readonly shown: Readonly<Record<string, string>>;
}

const post = (path: string, body: object, shown: Fault['shown']): Fault => ({ path, body, shown });
const patch = (path: string, body: object, shown: Fault['shown']): Fault => ({
  ...{ path, body, shown },
  version: 1,
});

const preview = (price: object, shown: Fault['shown']): Fault =>
  post('prices/preview', { model: 'glm', price }, shown);
const publish = (body: object, shown: Fault['shown']): Fault =>
  post('prices/publish', { changes: [], reason: 'r', ...body }, shown);
const tiers = (...bounds: readonly number[]) => ({
  input: '1',
  output: '1',
  tiers: bounds.map((bound) => ({ above_input_tokens: bound, input: '2' })),
});

const priceEditor: readonly Fault[] = [
  preview({ input: '1', output: 'x' }, { 'price.output': '必须是数字，例如 2.5，不能是“x”' }),
  preview({ input: '-1', output: '1' }, { 'price.input': '不能是负数，这里是 -1' }),
  preview({ input: '9999999999999', output: '1' }, { 'price.input': '数字太大：9999999999999' }),
  preview(
    { input: '0.0000000001', output: '1' },
    { 'price.input': '最多 9 位小数，这里是 0.0000000001' },
  ),
  preview(
    { input: '1' },
    { price: 'chat 模型需要 input 和 output，或者 request 的价格（免费请填 0）' },
  ),
  preview(
    { ...tiers(2), ...{ inputs: '1' } },
    { 'price.inputs': '没有成员“inputs”，是否要写“input”？' },
  ),
  preview(tiers(0), {
    'price.tiers[0].above_input_tokens': '必须是不小于 1 的整数，不能是“0”',
  }),
  preview(tiers(2, 2), { 'price.tiers[1].above_input_tokens': '必须大于前一档的值（2）' }),
  post('prices/preview', { model: 'gone', price: {} }, { model: '已不存在。' }),
  publish({ changes: [] }, { changes: '请填写此项。' }),
  publish(
    { changes: [{ model: 'glm', price: { input: '1', output: '-1' } }] },
    { 'changes.0.price.output': '不能是负数，这里是 -1' },
  ),
  publish(
    { changes: [{ model: 'glm', price: { input: '1', output: '1' } }], reason: ' ' },
    { reason: '请填写此项。' },
  ),
  publish(
    { changes: [{ model: 'glm', price: { input: '1', output: '1' } }], reason: 'r'.repeat(501) },
    { reason: '内容过长。' },
  ),
  publish(
    {
      changes: [{ model: 'glm', price: { input: '1', output: '1' } }],
      effective_at: '2020-01-01T00:00:00Z',
    },
    { effective_at: '请选择将来的时间。' },
  ),
  post(
    'prices/import',
    { text: '- { id: glm, price: { input: 1, output: 1 } }', dry_run: false },
    {
      reason: '请填写此项。',
    },
  ),
];

const group = (body: object, shown: Fault['shown']): Fault =>
  post('groups', { name: 'made', ...body }, shown);
const groups: readonly Fault[] = [
  group({ name: ' ' }, { name: '请填写此项。' }),
  group({ name: 'n'.repeat(101) }, { name: '内容过长。' }),
  group({ name: 'a\u0007b' }, { name: '必须是一行文字，1 到 100 个字符' }),
  group({ name: 'default' }, { name: '此名称已被使用。' }),
  group({ multiplier: 'x' }, { price_multiplier: '必须是数字，例如 2.5，不能是“x”' }),
  group({ multiplier: '-1' }, { price_multiplier: '不能是负数，这里是 -1' }),
  group({ multiplier: '1e15' }, { price_multiplier: '数字太大：1e15' }),
  group({ multiplier: '0.0000001' }, { price_multiplier: '最多 6 位小数，这里是 0.0000001' }),
  group(
    { rpm: 0, tpm: 1.5 },
    {
      'limits.rpm': '必须是不小于 1 的整数，不能是“0”',
      'limits.tpm': '必须是不小于 1 的整数，不能是“1.5”',
    },
  ),
  group({ fallback_models: [''] }, { 'fallback_models[0]': '不能为空' }),
  post(
    'groups/default/preview',
    { multiplier: 'x' },
    {
      multiplier: '必须是数字，例如 2.5，不能是“x”',
    },
  ),
];

const channel = (body: object, shown: Fault['shown']): Fault =>
  post(
    'channels',
    {
      ...{ name: 'made', vendor: 'openai', secrets: ['k'], groups: ['default'] },
      models: [{ id: 'glm' }],
      ...body,
    },
    shown,
  );
const newModel = (price: object, shown: Fault['shown']): Fault =>
  channel({ models: [{ id: 'x' }], new_models: [{ id: 'x', price }] }, shown);
const channels: readonly Fault[] = [
  channel({ name: '' }, { name: '请填写此项。' }),
  channel({ name: 'a' }, { name: '此名称已被使用。' }),
  channel({ name: 'a\u0007b' }, { name: '必须是一行文字，1 到 100 个字符' }),
  channel({ vendor: 'opneai' }, { vendor: '没有厂商“opneai”，是否要写“openai”？' }),
  channel(
    { vendor: 'qqqqqqqqqq' },
    { vendor: expect.stringMatching(/^没有厂商“q+”，可用的有 .+、/) },
  ),
  channel(
    { vendor: 'openai-compatible', base_url: undefined },
    { base_url: '必须填写：openai-compatible 没有通用的地址' },
  ),
  channel(
    { vendor: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', models: undefined },
    {
      models: '必须填写：内置列表中没有 openai-compatible 的模型',
    },
  ),
  channel(
    { base_url: 'http://a/?b' },
    { base_url: '必须是地址，例如 https://host/v1，不能带 ? 和 #，不能是“http://a/?b”' },
  ),
  channel(
    { base_url: 'http://me:word@a/' },
    { base_url: '地址中不能带用户名和密码：它们会显示出来，也不会被使用。请填写密钥' },
  ),
  channel({ secrets: [] }, { secrets: '请填写此项。' }),
  channel({ secret: 'k' }, { api_keys: '不能与 api_key 同时填写：请把密钥都写在这里' }),
  channel({ groups: ['defautl'] }, { 'groups[0]': '没有分组“defautl”，是否要写“default”？' }),
  channel({ models: [{ id: 'glm' }, { id: 'glm' }] }, { 'models[1]': '“glm”在此渠道中出现了两次' }),
  channel(
    { models: [{ id: 'qqqqqqqqqqqq' }] },
    { 'models[0]': '没有模型“qqqqqqqqqqqq”：它没有定价，也不在内置列表中' },
  ),
  channel(
    { priority: -1, weight: 0.5 },
    {
      priority: '必须是不小于 0 的整数，不能是“-1”',
      weight: '必须是不小于 0 的整数，不能是“0.5”',
    },
  ),
  channel({ costs: { other: { input: '1', output: '1' } } }, { 'costs.other': '不是此渠道的模型' }),
  newModel(
    { input: '1' },
    {
      'new_models[0].price': 'chat 模型需要 input 和 output，或者 request 的价格（免费请填 0）',
    },
  ),
  newModel(
    { input: '1', output: 'x' },
    { 'new_models[0].price.output': '必须是数字，例如 2.5，不能是“x”' },
  ),
  post(
    'channel-test',
    { vendor: 'openai-compatible', capability: 'chat', model: 'x' },
    {
      base_url: '必须填写：openai-compatible 没有通用的地址',
    },
  ),
  post(
    'vendor-models',
    { vendor: 'openai', base_url: 'ftp://a' },
    {
      base_url: '必须是地址，例如 https://host/v1，不能带 ? 和 #，不能是“ftp://a”',
    },
  ),
  post(
    'channel-test',
    { vendor: 'no', capability: 'video', model: 'x' },
    {
      capability: '这项能力无法用少量 token 测试。',
    },
  ),
];

/** Of the channel `made`, whose key is for another host. */
const madeChannel: readonly Fault[] = [
  patch(
    'channels/made',
    { base_url: 'http://127.0.0.1:10/v1' },
    { api_key: '请重新填写：已保存的密钥属于另一个地址' },
  ),
  patch('channels/made', { secrets: [2] }, { api_keys: '没有第 2 个密钥' }),
  patch(
    'channels/made',
    { costs: { glm: { input: '1', output: '-2' } } },
    { 'costs.glm.output': '不能是负数，这里是 -2' },
  ),
];

const model = (body: object, shown: Fault['shown']): Fault =>
  post('models', { id: 'new', price: { input: '1', output: '1' }, ...body }, shown);
const models: readonly Fault[] = [
  model({ id: '' }, { id: '请填写此项。' }),
  model({ id: 'a\u0007' }, { id: '必须是一行文字' }),
  model({ id: 'glm' }, { id: '此名称已被使用。' }),
  model({ owned_by: '' }, { owned_by: '不能为空' }),
  model({ kind: 'chats' }, { kind: expect.stringMatching(/^必须是 chat、.+“chat”？$/) }),
  model(
    { context: 0, max_output: -1, hedge_after_ms: 0.5, durations: [0] },
    {
      context: '必须是不小于 1 的整数，不能是“0”',
      max_output: '必须是不小于 1 的整数，不能是“-1”',
      hedge_after_ms: '必须是不小于 1 的整数，不能是“0.5”',
      'durations[0]': '必须是不小于 1 的整数，不能是“0”',
    },
  ),
  model({ shutdown_date: 'soon' }, { shutdown_date: '必须是日期，例如 2027-01-31，不能是“soon”' }),
  model(
    { price: { image: '1' } },
    {
      price: 'chat 模型需要 input 和 output，或者 request 的价格（免费请填 0）',
    },
  ),
  model(
    { price: { input: '1', output: 'x' } },
    {
      'price.output': '必须是数字，例如 2.5，不能是“x”',
    },
  ),
  model({ price: undefined }, { price: '必须填写' }),
];

const title = { zh: '题', en: 'Title' };
const text = { zh: '文', en: 'Text' };
const announcement = (body: object, shown: Fault['shown']): Fault =>
  post('announcements', { title, text, level: 'info', ...body }, shown);
const announcements: readonly Fault[] = [
  announcement(
    { title: { zh: ' ', en: 't'.repeat(201) } },
    {
      'title.zh': '请填写此项。',
      'title.en': '内容过长。',
    },
  ),
  announcement(
    { text: { zh: '', en: 't'.repeat(5_001) } },
    {
      'text.zh': '请填写此项。',
      'text.en': '内容过长。',
    },
  ),
  announcement({ group: 'gone' }, { group: '已不存在。' }),
  announcement({ from: 'soon' }, { from: '时间格式不正确。' }),
  announcement(
    { from: '2027-01-02T00:00:00Z', to: '2027-01-01T00:00:00Z' },
    { to: '结束时间必须晚于开始时间。' },
  ),
];

/** Of the user with this id. */
const people = (id: string): readonly Fault[] => [
  post('users', { name: '' }, { name: '请填写此项。' }),
  post('users', { name: 'n'.repeat(1_000) }, { name: '内容过长。' }),
  post('users', { name: 'a\u0007b' }, { name: '内容无效。' }),
  ...['credit', 'debit'].flatMap((move) => [
    post(
      `users/${id}/${move}`,
      { amount: 'x', reason: 'r' },
      {
        amount: '请填写金额，例如 10 或 10.50。',
      },
    ),
    post(
      `users/${id}/${move}`,
      { amount: '0', reason: '' },
      {
        amount: '请填写大于 0 的数。',
        reason: '请填写此项。',
      },
    ),
    post(`users/${id}/${move}`, { amount: '10000001', reason: 'r' }, { amount: '超过最大值。' }),
  ]),
  post(`users/${id}/debit`, { amount: '1', reason: 'r' }, { amount: '用户的可用余额不足。' }),
  post(`users/${id}/suspend`, { reason: ' ' }, { reason: '请填写此项。' }),
  post(`users/${id}/role`, { role: 'user', reason: 'r'.repeat(501) }, { reason: '内容过长。' }),
];

onSqlite((_name, openFresh) => {
  test('a wrong value in a form of operators is told in Chinese at its field', async () => {
    const console = await startOperatorConsole(await openFresh({ migrations }), sold);
    const made = await console.post('channels', {
      ...{ name: 'made', vendor: 'openai', secrets: ['k'], groups: ['default'] },
      models: [{ id: 'glm' }],
    });
    const { json: user } = await console.post('users', { name: 'one' });
    expect([made.status, typeof user.user?.id]).toEqual([201, 'string']);
    for (const { path, body, version, shown } of [
      ...priceEditor,
      ...groups,
      ...channels,
      ...madeChannel,
      ...models,
      ...announcements,
      ...people(user.user.id),
    ]) {
      const { status, json } = await (version === undefined
        ? console.post(path, body)
        : console.patch(path, version, body));
      const what = `${path} ${JSON.stringify(body).slice(0, 200)}: ${JSON.stringify(json)}`;
      expect([400, 409], what).toContain(status);
      const { error }: ErrorBody = json;
      const fields = refusedFields(
        { fields: error.fields ?? {}, reasons: error.reasons ?? {} },
        reasons.reasons,
      );
      const codes: Readonly<Record<string, string>> = shared.errors.fields;
      const told = Object.entries(fields).map(([field, said = '']) => [field, codes[said] ?? said]);
      expect(Object.fromEntries(told), what).toEqual(shown);
    }
  });
});
