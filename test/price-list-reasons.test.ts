import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { reason, type ReasonCode, sentences } from '../src/base/reason.ts';
import type { PriceImportReport } from '../src/console/contract.ts';
import en from '../web/words/en/reasons.ts';
import zh from '../web/words/zh/reasons.ts';
import { onSqlite } from './databases.ts';
import { startOperatorConsole } from './support/console-operator.ts';
import { sold } from './support/console-user.ts';

const inChinese: Readonly<Record<string, (values: Readonly<Record<string, string>>) => string>> =
  zh.reasons;

/** A list with one model, whose price has these members. */
const priced = (members: string): string => `- { id: glm, price: { ${members} } }`;
const tier = (members: string): string => priced(`input: 1, output: 1, tiers: [${members}]`);
const window = (members: string): string =>
  priced(
    `input: 1, output: 1, windows: [{ name: night, zone: Asia/Shanghai, times: 2, ${members} }]`,
  );
const model = (members: string): string =>
  `- { id: new, ${members}, price: { input: 1, output: 1 } }`;

/** Wrong lists, with the reasons in Chinese. */
const lists: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  required: [['- { id: glm }', '必须填写']],
  empty: [[model('owned_by: ""'), '不能为空']],
  not_text: [['- { id: [a], price: { input: 1, output: 1 } }', '必须是文本，不能是列表']],
  not_a_list: [[tier('').replace('[]', 'no'), '必须是列表，不能是“no”']],
  not_members: [['- { id: glm, price: 3 }', '必须是一组成员，不能是“3”']],
  not_a_decimal: [
    ['id,input,output\nglm,minus,1', '必须是数字，例如 2.5，不能是“minus”'],
    [priced('input: { a: 1 }, output: 1'), '必须是数字，例如 2.5，不能是一组成员'],
  ],
  not_a_boolean: [
    [priced('input: 1, output: 1, list_fees: no'), '必须是 true 或 false，不能是“no”'],
  ],
  not_a_time: [[window('from: 9, to: 10:00'), '必须是时间，例如 09:30，不能是“9”']],
  not_a_factor: [
    [tier('{ above_input_tokens: 1, times: x }'), '必须是倍数，例如 2、1.1 或 3/2，不能是“x”'],
    [
      tier('{ above_input_tokens: 1, times: { input: x } }'),
      '必须是倍数，例如 2、1.1 或 3/2，不能是“x”',
    ],
  ],
  not_a_size: [
    [model('image: { sizes: [big] }'), '必须是尺寸，例如 1024x1024，或者 auto，不能是“big”'],
  ],
  not_a_count: [[model('context: -1'), '必须是不小于 1 的整数，不能是“-1”']],
  not_a_zone: [
    [
      window('from: "09:00", to: "10:00"').replace('Asia/Shanghai', 'Mars'),
      '必须是时区，例如 Asia/Shanghai，不能是“Mars”',
    ],
  ],
  not_a_date: [[model('shutdown_date: soon'), '必须是日期，例如 2027-01-31，不能是“soon”']],
  not_one_of: [
    [
      priced('input: 1, output: 1, moment: sen'),
      '必须是 sent、finished 之一，不能是“sen”，是否要写“sent”？',
    ],
  ],
  not_a_name: [
    [
      window('from: "09:00", to: "10:00"').replace('night', 'n'.repeat(101)),
      '必须是一行文字，1 到 100 个字符',
    ],
  ],
  not_one_line: [['- { id: "a\\u0007", price: { input: 1, output: 1 } }', '必须是一行文字']],
  not_a_weekday: [
    [window('from: "09:00", to: "10:00", days: [8]'), '必须是 1（周一）到 7（周日）'],
  ],
  not_a_price_list: [['models: 3', '必须是带价格的模型列表，或者包含成员 models']],
  negative: [[priced('input: -1, output: 1'), '不能是负数，这里是 -1']],
  too_large: [[priced('input: 1e30, output: 1'), '数字太大：1e30']],
  too_many_decimals: [
    [priced('input: 0.0000000001, output: 1'), '最多 9 位小数，这里是 0.0000000001'],
  ],
  divided_by_zero: [[tier('{ above_input_tokens: 1, times: 1/0 }'), '不能除以 0，这里是 1/0']],
  no_id_column: [['model,input,output\nglm,1,1', '第一列必须是 id，不能是“model”']],
  unknown_column: [['id,input,outptu\nglm,1,1', '没有列“outptu”，是否要写“output”？']],
  unknown_member: [[priced('input: 1, output: 1, zzzzzzzz: 1'), '没有成员“zzzzzzzz”']],
  unknown_price_member: [[tier('{ above_input_tokens: 1, times: { zz: 2 } }'), '价格没有成员“zz”']],
  unknown_calendar: [[window('from: "09:00", to: "10:00", except: mars'), '没有日历“mars”']],
  unknown_mode: [
    [
      priced('input: 1, output: 1, modes: { flx: { times: 2 } }'),
      '没有服务等级或速度“flx”，是否要写“flex”？',
    ],
    [
      priced('input: 1, output: 1, modes: { zzzzzzz: { times: 2 } }'),
      '没有服务等级或速度“zzzzzzz”，可用的有 flex、fast、priority、ultrafast、scale、performance',
    ],
  ],
  not_a_term_name: [
    [
      priced('input: 1, output: 1, places: { "a b": { times: 2 } }'),
      '只能由字母、数字、点和短横线组成',
    ],
  ],
  duplicate: [
    [`${priced('input: 1, output: 1')}\n${priced('input: 1, output: 1')}`, '“glm”已在第 1 行出现'],
  ],
  price_lacks: [
    [priced('input: 1'), 'chat 模型需要 input 和 output，或者 request 的价格（免费请填 0）'],
  ],
  tier_without_bound: [
    [tier('{ input: 1 }'), '需要 above_input_tokens 或 above_output_tokens，也可以两者都填'],
  ],
  tier_out_of_order: [
    [
      tier('{ above_input_tokens: 2, input: 1 }, { above_input_tokens: 2, input: 1 }'),
      '必须大于前一档的值（2）',
    ],
  ],
  window_differs: [
    [
      priced(
        `input: 1, output: 1, windows: [${[2, 3]
          .map((times) => `{ name: night, zone: UTC, from: "01:00", to: "02:00", times: ${times} }`)
          .join()}]`,
      ),
      '在所有名为“night”的时段中必须相同',
    ],
  ],
  window_ends_before: [
    [window('from: "09:00", to: "08:00"'), '必须晚于 from；次日结束的时段请写 wraps: true'],
  ],
  window_wraps: [
    [window('from: "08:00", to: "09:00", wraps: true'), '只用于 to 不晚于 from 的时段'],
  ],
  too_many_values: [
    [`models: [&x [${'1,'.repeat(999)}1], ${'*x,'.repeat(500)}*x]`, '内容超过 500000 个值'],
  ],
  refers_to_itself: [['models: &a [*a]', '引用了自身']],
  nameless: [['- { "": 1, id: glm, price: { input: 1, output: 1 } }', '成员缺少名称']],
  repeated: [['- { id: glm, id: glm, price: { input: 1, output: 1 } }', '同一个成员出现了两次']],
  not_yaml: [['- { id: [', '这里不是有效的 YAML 或 JSON']],
};

/** Reasons of a channel's members. */
const channelReasons = [
  'unknown_vendor',
  'unknown_group',
  'model_of_no_list',
  'twice_in_channel',
  'not_in_channel',
  'models_needed',
  'address_needed',
  'not_a_base_address',
  'password_in_address',
  'two_key_members',
  'key_of_another_host',
  'no_such_key',
];
/** Reasons that no list has: for models that are not sold, for addresses, and for channels. */
const elsewhere = ['unknown_model', 'not_in_group', 'not_an_address', ...channelReasons];

test('no English reason in the console speaks of a file or of `api_key`', () => {
  const inEnglish: typeof inChinese = en.reasons;
  const values = { written: 'x', least: '1', most: '2', places: '9', choices: 'a b', vendor: 'v' };
  for (const code of Object.keys(sentences)) {
    const own = inEnglish[code]?.(values);
    const told = own ?? reason(code as ReasonCode, values).message;
    expect(told, code).not.toMatch(/\bfile\b|api_key/);
  }
  expect(inEnglish['model_of_no_list']?.({ written: 'gml', meant: 'glm' })).toBe(
    "there is no model 'gml': it has no price and is not in the bundled list, did you mean 'glm'?",
  );
});

onSqlite((_name, openFresh) => {
  test('each reason to refuse a line of a price list has its sentence in Chinese', async () => {
    const codes = Object.keys(sentences).toSorted();
    expect(Object.keys(inChinese).toSorted()).toEqual(codes);
    expect([...Object.keys(lists), ...elsewhere].toSorted()).toEqual(codes);
    const { post } = await startOperatorConsole(await openFresh({ migrations }), sold);
    for (const [code, wrong] of Object.entries(lists))
      for (const [text, chinese] of wrong) {
        const { json } = await post('prices/import', { text, dry_run: true });
        const { refused }: PriceImportReport = json;
        const told = refused.map((line) => [line.code, inChinese[line.code ?? '']?.(line.values)]);
        expect(told, text.slice(0, 200)).toContainEqual([code, chinese]);
        expect(
          refused.every(({ why }) => why !== ''),
          text.slice(0, 200),
        ).toBe(true);
      }
  });
});
