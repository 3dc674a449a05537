import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { LedgerCheckView, LedgerRule } from '../../../src/console/contract.ts';
import { saveJson } from '../../browser/save.ts';
import { Button } from '../../components/button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { bookWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { userPath } from './user-name.tsx';

interface RulesProps {
  readonly rules: readonly LedgerRule[];
  /** The check to export, once it is over. */
  readonly check: LedgerCheckView | undefined;
}

const icons: Readonly<Record<LedgerRule['state'], readonly [IconName, string]>> = {
  waiting: ['clock', 'text-faint'],
  running: ['dot', 'text-accent'],
  ok: ['check', 'text-good'],
  failed: ['failed', 'text-bad'],
};

/** Rule by rule; failed ones first, with their rows. Nothing here offers a repair. */
export function LedgerRules({ rules, check }: RulesProps): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const failed = rules.filter(({ state }) => state === 'failed');
  return (
    <div className="flex flex-col gap-4">
      {failed.map((rule) => (
        <Failed key={rule.rule} rule={rule} />
      ))}
      {failed.length > 0 && check !== undefined && (
        <div className="flex flex-wrap items-start justify-between gap-3">
          <p className="max-w-prose min-w-0 flex-1 text-table text-muted">{words.advice}</p>
          <Button icon="download" onClick={() => saveJson(`ledger-check-${check.id}.json`, check)}>
            {words.export}
          </Button>
        </div>
      )}
      <ul
        aria-label={words.rulesTitle}
        className="grid gap-x-6 gap-y-1.5 text-table md:grid-cols-2"
      >
        {rules
          .filter(({ state }) => state !== 'failed')
          .map(({ rule, state }) => {
            const [icon, look] = icons[state];
            return (
              <li key={rule} className="flex items-start gap-2">
                <Icon name={icon} className={clsx('mt-0.5', look)} />
                <span className={clsx('min-w-0', state === 'waiting' && 'text-muted')}>
                  {words.rules[rule] ?? rule} <span className="sr-only">{words.states[state]}</span>
                </span>
              </li>
            );
          })}
      </ul>
    </div>
  );
}

function Failed({ rule: { rule, problems } }: { readonly rule: LedgerRule }): ReactNode {
  const { ledger: words } = useWords(bookWords);
  return (
    <section className="rounded-control border border-bad p-3">
      <h3 className="flex items-center gap-2 text-table font-medium">
        <Icon name="failed" className="text-bad" />
        {words.rules[rule] ?? rule}{' '}
        <span className="font-normal text-muted">{words.problems(problems.length)}</span>
      </h3>
      <ul
        className="mt-2 flex max-h-72 flex-col gap-1 overflow-y-auto font-mono text-caption"
        tabIndex={0}
        aria-label={words.rules[rule] ?? rule}
      >
        {problems.map(({ id, text }, index) => (
          <li key={index} className="flex flex-wrap gap-x-3 wrap-anywhere">
            {text}
            <Where id={id} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A link to look further, where the id gives one. */
function Where({ id }: { readonly id: string }): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const path = id.startsWith('ord')
    ? `/operator/orders?order=${id}`
    : id.startsWith('usr_')
      ? userPath(id)
      : undefined;
  return path !== undefined && <PathLink path={path}>{words.openRow}</PathLink>;
}
