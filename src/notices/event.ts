import type { Language } from '../accounts/users.ts';

/** Something that somebody is told. Amounts are yuan, times ISO 8601. */
export type NoticeEvent =
  | {
      readonly type: 'balance.low';
      readonly user: string;
      readonly name: string;
      readonly balance: string;
      readonly threshold: string;
    }
  | {
      readonly type: 'channel.trouble';
      readonly channel: string;
      readonly why: string;
      readonly since: string;
    }
  | { readonly type: 'channel.recovered'; readonly channel: string };

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Why a channel is in trouble, by what its last attempts said. */
const reasons: Readonly<Record<string, { readonly zh: string; readonly en: string }>> = {
  credentials: { zh: '供应商拒绝了密钥', en: 'the vendor refuses its key' },
  quota: { zh: '在供应商处的账户余额已用完', en: 'its account at the vendor is empty' },
  rate_limited: { zh: '供应商要求暂停请求', en: 'the vendor asks us to stay away' },
};
const otherReason = { zh: '供应商没有正常应答', en: 'the vendor does not answer as it should' };

/**
 * Nothing that a user can write stands in it: the address may be somebody else's. In the reader's
 * language; in both, where it is not known.
 */
export function mailOf(
  event: NoticeEvent,
  language: Language | undefined,
  home: string | undefined,
): Mail {
  const both = language === undefined ? (['zh', 'en'] as const) : ([language] as const);
  const mails = both.map((one) => words[one](event, home));
  return {
    subject: mails.map(({ subject }) => subject).join(' · '),
    text: `${mails.map(({ text }) => text).join('\n\n')}\n`,
  };
}

const words: Readonly<Record<Language, (event: NoticeEvent, home: string | undefined) => Mail>> = {
  zh(event, home) {
    if (event.type === 'balance.low')
      return {
        subject: '余额不足提醒',
        text: `您的余额为 ¥${event.balance}，低于您设置的 ¥${event.threshold}。充值之前不会再次提醒。${at(home, '/top-up')}`,
      };
    if (event.type === 'channel.recovered')
      return {
        subject: `渠道 ${event.channel} 已恢复`,
        text: `渠道 ${event.channel} 已恢复正常。`,
      };
    const reason = reasons[event.why] ?? otherReason;
    return {
      subject: `渠道 ${event.channel} 出现故障`,
      text: `渠道 ${event.channel} 自 ${event.since} 起无法正常使用：${reason.zh}。${at(home, '/operator/channels')}`,
    };
  },
  en(event, home) {
    if (event.type === 'balance.low')
      return {
        subject: 'Your balance is low',
        text: `Your balance is ¥${event.balance}, below the ¥${event.threshold} that you asked to be told of. You are not told again before it is topped up.${at(home, '/top-up')}`,
      };
    if (event.type === 'channel.recovered')
      return {
        subject: `Channel ${event.channel} is well again`,
        text: `Channel ${event.channel} is well again.`,
      };
    const reason = reasons[event.why] ?? otherReason;
    return {
      subject: `Channel ${event.channel} is in trouble`,
      text: `Channel ${event.channel} has been in trouble since ${event.since}: ${reason.en}.${at(home, '/operator/channels')}`,
    };
  },
};

const at = (home: string | undefined, path: string): string =>
  home === undefined ? '' : `\n${home}${path}`;
