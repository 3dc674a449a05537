import { cogViewImages, dashscopeTasks, minimaxImages, runwayImages } from './chat-vendors.ts';
import { bflImages } from './bfl.ts';
import type { ImageHandler } from './handler.ts';
import { falImages } from './fal.ts';
import { ideogramImages } from './ideogram.ts';
import { recraftImages } from './recraft.ts';
import { replicateImages } from './replicate.ts';
import { stabilityImages } from './stability.ts';

/** The vendors with an image format of their own. */
export const handlers: readonly ImageHandler[] = [
  bflImages,
  falImages,
  replicateImages,
  stabilityImages,
  ideogramImages,
  recraftImages,
  minimaxImages,
  cogViewImages,
  dashscopeTasks,
  runwayImages,
];
