import type en from '../en/reasons.ts';

type Values = Readonly<Record<string, string>>;

const given = ({ written, shape }: Values): string =>
  written === undefined ? (shape === 'list' ? '列表' : '一组成员') : `“${written}”`;

const meant = ({ meant: name }: Values): string =>
  name === undefined ? '' : `，是否要写“${name}”？`;

const choicesOf = ({ choices = '' }: Values): string => choices.replaceAll(', ', '、');

export default {
  reasons: {
    required: () => '必须填写',
    empty: () => '不能为空',
    not_text: (of) => `必须是文本，不能是${given(of)}`,
    not_a_list: (of) => `必须是列表，不能是${given(of)}`,
    not_members: (of) => `必须是一组成员，不能是${given(of)}`,
    not_a_decimal: (of) => `必须是数字，例如 2.5，不能是${given(of)}`,
    not_a_boolean: (of) => `必须是 true 或 false，不能是${given(of)}`,
    not_a_time: (of) => `必须是时间，例如 09:30，不能是${given(of)}`,
    not_a_factor: (of) => `必须是倍数，例如 2、1.1 或 3/2，不能是${given(of)}`,
    not_a_size: (of) => `必须是尺寸，例如 1024x1024，或者 auto，不能是${given(of)}`,
    not_a_count: (of) => `必须是不小于 ${of['least']} 的整数，不能是${given(of)}`,
    not_an_address: (of) => `必须是地址，例如 https://example.com，不能是${given(of)}`,
    not_a_zone: (of) => `必须是时区，例如 Asia/Shanghai，不能是${given(of)}`,
    not_a_date: (of) => `必须是日期，例如 2027-01-31，不能是${given(of)}`,
    not_one_of: (of) => `必须是 ${choicesOf(of)} 之一，不能是${given(of)}${meant(of)}`,
    not_a_name: (of) => `必须是一行文字，1 到 ${of['most']} 个字符`,
    not_one_line: () => '必须是一行文字',
    not_a_weekday: () => '必须是 1（周一）到 7（周日）',
    not_a_term_name: () => '只能由字母、数字、点和短横线组成',
    no_id_column: (of) => `第一列必须是 id，不能是${given(of)}`,
    unknown_column: (of) => `没有列${given(of)}${meant(of)}`,
    not_a_price_list: () => '必须是带价格的模型列表，或者包含成员 models',
    negative: (of) => `不能是负数，这里是 ${of['written']}`,
    too_large: (of) => `数字太大：${of['written']}`,
    too_many_decimals: (of) => `最多 ${of['places']} 位小数，这里是 ${of['written']}`,
    divided_by_zero: (of) => `不能除以 0，这里是 ${of['written']}`,
    too_many_values: (of) => `内容超过 ${of['most']} 个值`,
    unknown_member: (of) => `没有成员${given(of)}${meant(of)}`,
    unknown_price_member: (of) => `价格没有成员${given(of)}`,
    unknown_model: (of) => `没有可以定价的模型${given(of)}${meant(of)}`,
    unknown_calendar: (of) => `没有日历${given(of)}${meant(of)}`,
    unknown_mode: (of) =>
      `没有服务等级或速度${given(of)}${meant(of) || `，可用的有 ${choicesOf(of)}`}`,
    duplicate: (of) => `${given(of)}已在第 ${of['line']} 行出现`,
    price_lacks: ({ kind, choices = '' }) => {
      const rows = choices.split('|').map((row) => row.replaceAll(' ', ' 和 '));
      return `${kind} 模型需要 ${rows.join('，或者 ')} 的价格（免费请填 0）`;
    },
    tier_without_bound: () => '需要 above_input_tokens 或 above_output_tokens，也可以两者都填',
    tier_out_of_order: (of) => `必须大于前一档的值（${of['least']}）`,
    window_differs: (of) => `在所有名为${given(of)}的时段中必须相同`,
    window_ends_before: () => '必须晚于 from；次日结束的时段请写 wraps: true',
    window_wraps: () => '只用于 to 不晚于 from 的时段',
    unknown_vendor: (of) => `没有厂商${given(of)}${meant(of) || `，可用的有 ${choicesOf(of)}`}`,
    unknown_group: (of) => `没有分组${given(of)}${meant(of)}`,
    model_of_no_list: (of) => `没有模型${given(of)}：它没有定价，也不在内置列表中${meant(of)}`,
    not_in_group: (of) => `分组 ${of['group']} 没有出售模型${given(of)}${meant(of)}`,
    twice_in_channel: (of) => `${given(of)}在此渠道中出现了两次`,
    not_in_channel: () => '不是此渠道的模型',
    models_needed: (of) => `必须填写：内置列表中没有 ${of['vendor']} 的模型`,
    address_needed: (of) => `必须填写：${of['vendor']} 没有通用的地址`,
    not_a_base_address: (of) =>
      `必须是地址，例如 https://host/v1，不能带 ? 和 #，不能是${given(of)}`,
    password_in_address: () => '地址中不能带用户名和密码：它们会显示出来，也不会被使用。请填写密钥',
    two_key_members: () => '不能与 api_key 同时填写：请把密钥都写在这里',
    key_of_another_host: () => '请重新填写：已保存的密钥属于另一个地址',
    no_such_key: (of) => `没有第 ${of['number']} 个密钥`,
    refers_to_itself: () => '引用了自身',
    nameless: () => '成员缺少名称',
    repeated: () => '同一个成员出现了两次',
    not_yaml: () => '这里不是有效的 YAML 或 JSON',
  },
} satisfies typeof en;
