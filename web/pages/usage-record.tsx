import type { ReactNode } from 'react';
import type { ChargeDetail } from '../../src/console/contract.ts';
import { useData } from '../api/data.ts';
import { ButtonAnchor } from '../components/button.tsx';
import { DetailPage } from '../components/detail-page.tsx';
import { ErrorPanel } from '../components/error-panel.tsx';
import { Drawer } from '../components/dialog.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Panel } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ChargeView } from './charge-detail.tsx';

/** A charge on its own page: for links and reloads. */
export function UsageRecord({ id }: { readonly id: string }): ReactNode {
  const words = useWords(usageWords);
  const charge = useData<ChargeDetail>(`usage/${id}`);
  return (
    <DetailPage
      query={charge}
      title={words.charge.title}
      list={{ label: words.title, to: '/usage' }}
      note={() => null}
      missing={<ErrorPanel error={charge.error} />}
      skeleton={<ChargeSkeleton />}
    >
      {(detail) => (
        <Panel className="max-w-3xl">
          <ChargeView detail={detail} />
        </Panel>
      )}
    </DetailPage>
  );
}

interface ChargeDrawerProps {
  readonly id: string;
  /** The API path of the user whose charge it is, when an operator reads it. */
  readonly base?: string;
  /** The drawer is over unsaved work: its links open in new tabs. */
  readonly apart?: boolean;
  readonly onClose: () => void;
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

/** A charge beside the list; ↑ and ↓ go through the list. */
export function ChargeDrawer({
  id,
  base,
  apart,
  onClose,
  onPrevious,
  onNext,
}: ChargeDrawerProps): ReactNode {
  const { charge: words } = useWords(usageWords);
  const charge = useData<ChargeDetail>(`${base === undefined ? '' : `${base}/`}usage/${id}`);
  return (
    <Drawer
      onClose={onClose}
      title={words.title}
      onPrevious={onPrevious}
      onNext={onNext}
      footer={
        base === undefined ? (
          <ButtonAnchor icon="external" href={`/usage/${id}`} target="_blank" rel="noopener">
            {words.openPage}
          </ButtonAnchor>
        ) : undefined
      }
    >
      <Loaded query={charge} skeleton={<ChargeSkeleton />}>
        {(detail) => <ChargeView detail={detail} base={base} apart={apart} />}
      </Loaded>
    </Drawer>
  );
}

function ChargeSkeleton(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <div className="flex justify-between">
        <Skeleton className="h-12 w-40" />
        <Skeleton className="h-12 w-32" />
      </div>
      <Skeleton className="h-40" />
      <Skeleton className="h-32" />
    </div>
  );
}
