import { cogViewPictures, dashscopeTasks, minimaxPictures, runwayPictures } from './beside.ts';
import { bflPictures } from './bfl.ts';
import type { PictureDesk } from './desk.ts';
import { falPictures } from './fal.ts';
import { ideogramPictures } from './ideogram.ts';
import { recraftPictures } from './recraft.ts';
import { replicatePictures } from './replicate.ts';
import { stabilityPictures } from './stability.ts';

/** The vendors with an image format of their own. */
export const desks: readonly PictureDesk[] = [
  bflPictures,
  falPictures,
  replicatePictures,
  stabilityPictures,
  ideogramPictures,
  recraftPictures,
  minimaxPictures,
  cogViewPictures,
  dashscopeTasks,
  runwayPictures,
];
