import { dashscopeVideos } from './dashscope.ts';
import type { VideoHandler } from './handler.ts';
import { jimengSecret, jimengVideos } from './jimeng.ts';
import { klingSecret, klingVideos } from './kling.ts';
import { minimaxVideos } from './minimax.ts';
import { newApiVideos, openAiVideos } from './openai.ts';
import { runwayVideos } from './runway.ts';
import { seedance } from './seedance.ts';
import { geminiVideos, vertexVideos } from './veo.ts';
import { viduVideos } from './vidu.ts';
import { xaiVideos } from './xai.ts';
import { zhipuVideos } from './zhipu.ts';

/** The vendors with videos. */
export const handlers: readonly VideoHandler[] = [
  openAiVideos,
  newApiVideos,
  geminiVideos,
  vertexVideos,
  klingVideos,
  minimaxVideos,
  dashscopeVideos,
  seedance,
  xaiVideos,
  runwayVideos,
  zhipuVideos,
  viduVideos,
  jimengVideos,
];

/** The vendors that only have videos: the path of their base URL, and a key that they accept. */
export const videosAlone = [
  { vendor: 'kling', prefix: '/kling', key: `sim-access-key:${klingSecret}` },
  { vendor: 'runway', prefix: '/runway', key: 'key_sim' },
  { vendor: 'vidu', prefix: '/vidu', key: 'vda_sim' },
  { vendor: 'jimeng', prefix: '/jimeng', key: `sim-access-key:${jimengSecret}` },
] as const;
