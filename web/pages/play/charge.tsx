import { type ReactNode, useState } from 'react';
import type { ChargeDetail } from '../../../src/console/contract.ts';
import { ApiError, get } from '../../api/client.ts';
import { queryClient, refreshMoney } from '../../api/data.ts';
import { Banner } from '../../components/banner.tsx';
import { linkLook } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { useErrorText } from '../../components/error-panel.tsx';
import { Money } from '../../components/money.tsx';
import { Original } from '../../components/original.tsx';
import { isPlain, PathLink } from '../../components/path-link.tsx';
import { ApartLink } from '../apart-link.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { playgroundWords, requestWords, sharedWords, usageWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ChargeDrawer } from '../usage-record.tsx';

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
      void refreshMoney();
      void queryClient.invalidateQueries({ queryKey: ['usage'] });
      return charge;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) return undefined;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * at));
    }
  }
  return undefined;
}

export type Charged = ChargeDetail | 'pending' | undefined;

interface ChargeLineProps {
  readonly charge: Charged;
  readonly firstByteMs?: number | undefined;
}

/** Money, tokens by class and time, in one line. */
export function ChargeLine({ charge, firstByteMs }: ChargeLineProps): ReactNode {
  const words = useWords(playgroundWords);
  const { units } = useWords(usageWords);
  const { chat } = words;
  const first = firstByteMs === undefined ? undefined : chat.firstByte(formatDuration(firstByteMs));
  if (charge === 'pending') return <p className="text-caption text-muted">{words.charging}</p>;
  if (charge === undefined)
    return first === undefined ? null : <p className="text-caption text-muted">{first}</p>;
  const { quantity } = charge;
  // The tokens of what is sold by the piece have no part in its price.
  const byToken = charge.lines.some(({ price }) => price.unit === 'token');
  const tokens = quantity === null || byToken ? charge.tokens : null;
  const parts = [
    first,
    quantity && !byToken && units[quantity.unit](formatCount(quantity.amount)),
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
      <SeeCharge id={charge.id} />
    </p>
  );
}

/** Opens the charge over the page, which would lose what is on it by going there. */
function SeeCharge({ id }: { readonly id: string }): ReactNode {
  const { seeCharge } = useWords(playgroundWords);
  const [open, setOpen] = useState(false);
  return (
    <>
      <PathLink
        path={`/usage/${id}`}
        className={`${linkLook} inline-flex min-h-6 items-center`}
        aria-haspopup="dialog"
        onClick={(event) => {
          if (!isPlain(event)) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {seeCharge}
      </PathLink>
      {open && <ChargeDrawer id={id} apart onClose={() => setOpen(false)} />}
    </>
  );
}

/** Status and code; a stream that broke off began with 200, which is no failure. */
const nameOf = ({ status, named }: ApiError): string =>
  [status >= 400 && status, named].filter(Boolean).join(' ');

/** The id is shown by itself. */
const withoutId = (message: string): string => message.replace(/ \(request id: \w+\)$/, '');

/**
 * Whether the failure cost nothing: the gateway answered with an error of its own, which it does in
 * place of a charge. A stream that broke off began with 200; no answer, or a proxy's, says nothing.
 * After a 409 the same request, sent before, may still be charged.
 */
const isFree = ({ status, named }: ApiError): boolean =>
  named !== undefined && status >= 400 && status !== 409;

/** A failure in the gateway's words: its code, its request id, and a link to its timeline. */
export function Refused({ error }: { readonly error: unknown }): ReactNode {
  const words = useWords(playgroundWords);
  const { actions } = useWords(sharedWords);
  const errorText = useErrorText();
  const { remedies, notCharged } = useWords(requestWords);
  const api = error instanceof ApiError ? error : undefined;
  const poor = api?.code === 'insufficient_quota';
  const told = api !== undefined && api.status > 0 && api.message !== '';
  return (
    <div role="alert">
      <Banner tone="bad">
        <div className="flex min-w-0 flex-col gap-1">
          <p className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium">{poor ? words.poor : words.failed}</span>
            {api !== undefined && (
              <code className="min-w-0 font-mono text-caption wrap-anywhere">{nameOf(api)}</code>
            )}
          </p>
          <p dir="auto" className="break-words">
            {told ? <Original text={withoutId(api.message)} /> : errorText(error)}
          </p>
          {api !== undefined && remedies[api.code] !== undefined && <p>{remedies[api.code]}</p>}
          {api !== undefined && isFree(api) && <p>{notCharged}</p>}
          <p className="flex flex-wrap items-center gap-x-3">
            {poor && <FollowUp path="/top-up">{words.topUp}</FollowUp>}
            {api?.requestId !== undefined && (
              <>
                <FollowUp path={`/requests/${api.requestId}`}>{words.timeline}</FollowUp>
                <code className="font-mono text-caption break-all select-all">{api.requestId}</code>
                <CopyButton text={api.requestId} size="small" look="ghost">
                  {actions.copy}
                </CopyButton>
              </>
            )}
          </p>
        </div>
      </Banner>
    </div>
  );
}

/** The page has a conversation, which it would lose by going there. */
function FollowUp({
  path,
  children,
}: {
  readonly path: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <ApartLink path={path} className={`${linkLook} inline-flex min-h-6 items-center`}>
      {children}
    </ApartLink>
  );
}
