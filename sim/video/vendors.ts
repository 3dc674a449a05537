import { dashscopeVideos } from './dashscope.ts';
import type { VideoDesk } from './desk.ts';
import { klingVideos } from './kling.ts';
import { minimaxVideos } from './minimax.ts';
import { runwayVideos } from './runway.ts';
import { seedance } from './seedance.ts';
import { geminiVideos, vertexVideos } from './veo.ts';
import { viduVideos } from './vidu.ts';
import { xaiVideos } from './xai.ts';
import { zhipuVideos } from './zhipu.ts';

/** Whoever makes videos. */
export const desks: readonly VideoDesk[] = [
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
];
