import { bifrost } from './bifrost.ts';
import { gomodel } from './gomodel.ts';
import { litellm } from './litellm.ts';
import { oneApi } from './one-api.ts';
import type { Peer } from './peer.ts';
import { portkey } from './portkey.ts';

export const peers: readonly Peer[] = [portkey, litellm, gomodel, bifrost, oneApi];
