import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { StatementProof } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { Banner } from '../components/banner.tsx';
import { useErrorText } from '../components/error-panel.tsx';
import { PathLink } from '../components/path-link.tsx';
import { useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatCount } from '../format/count.ts';
import { formatYuan } from '../format/money.ts';
import { formatDuration, formatTime } from '../format/time.ts';
import { statementWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';

interface Days {
  readonly from: string;
  readonly to: string;
}

type Verify = UseMutationResult<StatementProof, Error, void>;

/**
 * Has the server add up the period again, from the ledger's transfers. The result holds for that
 * period only.
 */
export function useVerify({ from, to }: Days): Verify {
  const verify = useMutation({
    mutationFn: () => send<StatementProof>('POST', 'statement/verify', { body: { from, to } }),
  });
  const { reset } = verify;
  // oxlint-disable-next-line react/exhaustive-deps -- another period
  useEffect(() => reset, [from, to, reset]);
  return verify;
}

export function StatementProofPanel({
  verify: { data, error },
}: {
  readonly verify: Verify;
}): ReactNode {
  const errorText = useErrorText();
  return (
    <div role="status" className="empty:hidden">
      {error !== null && <Banner tone="bad">{errorText(error)}</Banner>}
      {error === null && data !== undefined && <Proof proof={data} />}
    </div>
  );
}

function Proof({
  proof: { ok, lines, differs, as_of: asOf, took_ms: tookMs },
}: {
  readonly proof: StatementProof;
}): ReactNode {
  const words = useWords(statementWords);
  const zone = useZone();
  const gap = useSentenceGap();
  if (ok) {
    return (
      <Banner tone="good">
        <span className="font-medium">{words.proven(formatCount(lines))}</span>
        {gap}
        <span className="text-muted figures">
          <Unbroken text={words.provenNote(formatTime(asOf, zone), formatDuration(tookMs))} />
        </span>
      </Banner>
    );
  }
  if (differs === null) return <Banner tone="bad">{words.unequal}</Banner>;
  const amount = (of: string | null) => (of === null ? '—' : formatYuan(of, 'exact'));
  return (
    <Banner
      tone="bad"
      action={<PathLink path={`/usage/${differs.id}`}>{words.openCharge}</PathLink>}
    >
      {words.differs(differs.id, amount(differs.recorded), amount(differs.transferred))}
    </Banner>
  );
}
