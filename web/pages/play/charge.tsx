import type { ReactNode } from 'react';
import type { ChargeDetail } from '../../../src/console/contract.ts';
import { ApiError, get } from '../../api/client.ts';
import { queryClient } from '../../api/data.ts';
import { Banner } from '../../components/banner.tsx';
import { linkLook } from '../../components/button.tsx';
import { CopyText } from '../../components/copy.tsx';
import { errorText } from '../../components/error-panel.tsx';
import { Money } from '../../components/money.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { playgroundWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

const attemptsMax = 8;
const pauseMs = 250;

/**
 * The charge of a request; undefined when it cost nothing. An abandoned stream is charged a moment
 * later.
 */
export async function chargeOf(requestId: string): Promise<ChargeDetail | undefined> {
  for (let at = 1; at <= attemptsMax; at++) {
    try {
      const charge = await get<ChargeDetail>(`usage/${requestId}`);
      refreshMoney();
      return charge;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) return undefined;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * at));
    }
  }
  return undefined;
}

/** Fetches balance and lists of charges again where a page shows them. */
function refreshMoney(): void {
  void queryClient.invalidateQueries({ queryKey: ['session'] });
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => path === 'overview' || path === 'usage',
  });
}

export type Charged = ChargeDetail | 'pending' | undefined;

interface ChargeLineProps {
  readonly charge: Charged;
  readonly firstByteMs?: number | undefined;
}

/** Money, tokens by class and time, in one line. */
export function ChargeLine({ charge, firstByteMs }: ChargeLineProps): ReactNode {
  const words = useWords(playgroundWords);
  const { chat } = words;
  const first = firstByteMs === undefined ? undefined : chat.firstByte(formatDuration(firstByteMs));
  if (charge === 'pending') return <p className="text-caption text-muted">{words.charging}</p>;
  if (charge === undefined)
    return first === undefined ? null : <p className="text-caption text-muted">{first}</p>;
  const { tokens } = charge;
  const parts = [
    first,
    tokens && chat.input(formatCount(tokens.input)),
    tokens && tokens.cached_input > 0 && chat.cached(formatCount(tokens.cached_input)),
    tokens && chat.output(formatCount(tokens.output)),
    tokens && tokens.reasoning > 0 && chat.thought(formatCount(tokens.reasoning)),
  ].filter(Boolean);
  return (
    <p
      className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-caption text-muted figures"
      data-charge={charge.cost}
    >
      <span className="font-medium text-text">
        <Money amount={charge.cost} as="row" estimated={charge.estimated} />
      </span>
      {parts.map((part) => (
        <span key={String(part)}>{part}</span>
      ))}
      <PathLink
        path={`/usage/${charge.id}`}
        className={`${linkLook} inline-flex min-h-6 items-center`}
      >
        {words.seeCharge}
      </PathLink>
    </p>
  );
}

/** A refusal by the gateway as text, with a way to resolve it. */
export function Refused({ error }: { readonly error: unknown }): ReactNode {
  const words = useWords(playgroundWords);
  const shared = useWords(sharedWords);
  const api = error instanceof ApiError ? error : undefined;
  const poor = api?.code === 'insufficient_quota';
  return (
    <div role="alert">
      <Banner tone="bad">
        <p>
          <span className="font-medium">{poor ? words.poor : words.failed}</span>{' '}
          {poor ? (
            <PathLink path="/top-up">{words.topUp}</PathLink>
          ) : (
            <span className="break-words">{errorText(error, shared)}</span>
          )}
        </p>
        {api?.requestId !== undefined && (
          <CopyText text={api.requestId} label={shared.errors.requestId} className="max-w-64" />
        )}
      </Banner>
    </div>
  );
}
