import { type ReactNode, useEffect, useState } from 'react';
import type { SessionView } from '../../src/console/contract.ts';
import { get } from '../api/client.ts';
import { ofThisUser, queryClient, sessionData } from '../api/data.ts';
import { sessionIsBack, sessionStaysGone, signInChannel } from '../api/session-gone.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/**
 * A dialog over the page, so that nothing typed is lost: sign-in happens in a pop-up, then the
 * failed requests are sent once more.
 */
export function SessionGone(): ReactNode {
  const words = useWords(sharedWords);
  const [blocked, setBlocked] = useState(false);
  useEffect(() => {
    const channel = signInChannel();
    const back = async () => {
      const session = await get<SessionView>('session');
      if (session.me === null) return;
      queryClient.setQueryData(sessionData.queryKey, await ofThisUser(session));
      sessionIsBack();
    };
    const look = () => void back().catch(() => undefined); // no response: the next event retries
    channel.addEventListener('message', look);
    // Sign-in may also happen in another tab.
    addEventListener('focus', look);
    return () => {
      channel.close();
      removeEventListener('focus', look);
    };
  }, []);
  const signIn = () => {
    const opened = window.open(
      '/sign-in?next=%2Fsign-in%2Fdone',
      'tollgate-sign-in',
      'popup,width=480,height=720',
    );
    setBlocked(opened === null);
  };
  const leave = () => {
    sessionStaysGone();
    location.assign('/sign-in');
  };
  return (
    <Dialog
      onClose={() => undefined}
      locked
      title={words.session.goneTitle}
      footer={
        <>
          <Button onClick={leave}>{words.session.leave}</Button>
          <Button look="primary" onClick={signIn}>
            {words.session.again}
          </Button>
        </>
      }
    >
      <p>{words.session.gone}</p>
      {blocked && <p className="mt-2 text-table text-bad">{words.session.blocked}</p>}
    </Dialog>
  );
}
