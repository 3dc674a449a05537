import type { ReactNode } from 'react';
import type { Attention, NotServingName } from '../../../src/console/contract.ts';
import { Button, buttonLook } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import { Unbroken } from '../../components/unbroken.tsx';
import { formatYuan } from '../../format/money.ts';
import { wholeNames } from '../../format/whole-names.ts';
import { operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useSentenceGap } from '../../words/language.ts';
import { Rich } from '../../words/rich.tsx';
import { useWalletName } from './wallet-name.ts';

interface AttentionProps {
  readonly attention: readonly Attention[];
  readonly checkedAt: string;
  readonly onLook: () => void;
}

/**
 * Each alert is a sentence, its start and one button; the button of the first is the page's primary
 * one.
 */
export function AttentionPanel({ attention, checkedAt, onLook }: AttentionProps): ReactNode {
  const { overview: words } = useWords(operatorWords);
  const sentence = useSentence();
  const gap = useSentenceGap();
  const checked = (
    <span className="text-caption text-muted">
      <Rich text={words.checked} at={<Time at={checkedAt} as="relative" />} />
    </span>
  );
  if (attention.length === 0)
    return (
      <Panel>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Icon name="check" className="size-5 text-good" />
          <h2 className="text-card font-semibold">{words.quiet}</h2>
          {checked}
        </div>
      </Panel>
    );
  return (
    <Panel
      flush
      title={
        <span className="flex items-center gap-2">
          {words.attention} <Badge tone="bad">{attention.length}</Badge>
        </span>
      }
      actions={checked}
    >
      <ul className="divide-y divide-line">
        {attention.map((each, index) => (
          <li
            key={`${each.code} ${each.path} ${each.since}`}
            className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3"
          >
            <Icon
              name={mild.has(each.code) ? 'warning' : 'failed'}
              className={mild.has(each.code) ? 'text-warn' : 'text-bad'}
            />
            <p className="min-w-0 flex-1 basis-60 wrap-anywhere">
              <Unbroken text={sentence(each)} whole={wholeNames(Object.values(each.values))} />
              {gap}
              {/* A retirement has its day in the sentence. */}
              {each.code !== 'model_retiring' && (
                <span className="text-caption whitespace-nowrap text-muted">
                  <Rich text={words.since} at={<Time at={each.since} />} />
                </span>
              )}
            </p>
            <Act attention={each} first={index === 0} onLook={onLook} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const mild: ReadonlySet<Attention['code']> = new Set([
  'model_retiring',
  'models_retiring',
  'database_slow',
  'disk_full',
  'model_without_channel',
  'models_without_channel',
  'model_without_channel_in_group',
  'models_without_channel_in_group',
  'vendor_overran',
]);

function Act({
  attention,
  first,
  onLook,
}: {
  readonly attention: Attention;
  readonly first: boolean;
  readonly onLook: () => void;
}): ReactNode {
  const { overview: words } = useWords(operatorWords);
  const { code, path, values } = attention;
  const needsKey = code === 'credentials_refused';
  // The console cannot change a key that the configuration file names.
  const isOfFile = needsKey && values['origin'] === 'configuration';
  const look = first ? 'primary' : 'secondary';
  if (path === '/operator')
    return (
      <Button look={look} icon="refresh" onClick={onLook}>
        {words.buttons[code]}
      </Button>
    );
  return (
    <PathLink
      path={needsKey && !isOfFile ? `${path}?tab=settings&form=edit` : path}
      className={buttonLook({ look })}
    >
      {words.buttons[isOfFile ? 'credentials_refused_of_file' : code]}
    </PathLink>
  );
}

const amountIn = (currency: string, amount: string): string =>
  currency === 'CNY'
    ? formatYuan(amount, 'balance')
    : `${currency} ${formatYuan(amount, 'balance').replace('¥', '')}`;

function useSentence(): (attention: Attention) => string {
  const { overview, faults, notServing } = useWords(operatorWords);
  const wallet = useWalletName();
  const { sentences } = overview;
  return ({ code, values }) => {
    const of = (name: string) => values[name] ?? '';
    switch (code) {
      case 'channel_parked':
        return sentences.channel_parked(of('channel'), faults[of('why')] ?? of('why'));
      case 'unmatched_payment':
        return sentences.unmatched_payment(
          wallet(of('wallet')),
          amountIn(of('currency'), of('amount')),
          of('number'),
          sentences.unmatchedReasons[of('why')] ?? of('why'),
        );
      case 'unmatched_payments':
        return sentences.unmatched_payments(of('count'));
      case 'refund_not_ended':
        return sentences.refund_not_ended(
          wallet(of('wallet')),
          formatYuan(of('amount'), 'balance'),
        );
      case 'ledger_check_failed':
        return sentences.ledger_check_failed(of('rules'));
      case 'model_retiring':
        return sentences.model_retiring(of('model'), of('date'));
      case 'models_retiring':
        return sentences.models_retiring(of('count'), of('date'));
      case 'model_without_channel':
        return sentences.model_without_channel(
          of('model'),
          of('channel'),
          notServing.states[of('why') as NotServingName],
        );
      case 'models_without_channel':
        return sentences.models_without_channel(of('count'));
      case 'model_without_channel_in_group':
        return sentences.model_without_channel_in_group(
          of('model'),
          of('group'),
          of('channel'),
          notServing.states[of('why') as NotServingName],
        );
      case 'models_without_channel_in_group':
        return sentences.models_without_channel_in_group(of('count'), of('group'));
      case 'credentials_refused':
        return sentences.credentials_refused(of('channel'));
      case 'database_slow':
        return sentences.database_slow(of('ms'), of('node'));
      case 'vendor_overran':
        return sentences.vendor_overran(
          of('channel'),
          of('answers'),
          formatYuan(of('loss'), 'spend'),
        );
      case 'requests_failing':
        return sentences.requests_failing(of('failed'), of('attempts'));
      case 'requests_failing_now':
        return sentences.requests_failing_now(of('failed'), of('requests'), of('minutes'));
      case 'disk_full':
        return sentences.disk_full(of('node'));
    }
  };
}
