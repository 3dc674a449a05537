import { imageMembers, imagesMax } from '../image-request.ts';
import {
  type Operation,
  type Operations,
  objectSchema,
  answerSchema,
  requestSchema,
  arraySchema,
  onlyWith,
  forwardedSchema,
  schemaRef,
  type Schema,
  stringSchema,
  integerSchema,
} from './schema.ts';

const { prompt, model, ...imageFields } = imageMembers;

/** The fields that the convention has at each endpoint; others are passed on. */
const { moderation: _moderation, style: _style, ...ofGiven } = imageFields;
const { input_fidelity: _fidelity, ...ofGeneration } = imageFields;
const { input_fidelity: _none, ...ofVariations } = ofGiven;

/** Previews come in a stream. */
const previews = onlyWith('partial_images', { stream: { const: true } }, { enum: [null, 0] });

const reference = forwardedSchema(
  `A picture: an address, a data URL, or \`{"image_url": …}\`; up to ${imagesMax}.`,
);
const file: Schema = {
  type: 'string',
  format: 'binary',
  description: `PNG, JPEG, WebP or GIF; may be repeated, up to ${imagesMax} times.`,
};

const result = answerSchema(
  {
    created: integerSchema('Unix time, seconds.', 0),
    data: arraySchema(
      'One for each picture.',
      answerSchema(
        {},
        {
          url: stringSchema('Good for a day.'),
          b64_json: stringSchema('The bytes.'),
          revised_prompt: stringSchema('What the model made of the prompt.'),
        },
      ),
    ),
  },
  { usage: objectSchema('Tokens, of models that are sold by them.') },
);

const answer: Operation['answer'] = {
  'application/json': schemaRef('ImageResult'),
  'text/event-stream': stringSchema(
    '`…partial_image` for previews, `…completed` for each picture.',
  ),
};

export const imageOperations: Operations = {
  'POST /images/generations': {
    id: 'createImage',
    tag: 'Images',
    summary: 'Make pictures of words',
    schemas: {
      ImageRequest: { ...requestSchema({ prompt }, { model, ...ofGeneration }), allOf: [previews] },
      ImageResult: result,
    },
    body: { 'application/json': schemaRef('ImageRequest') },
    answer,
    once: true,
  },
  'POST /images/edits': {
    id: 'editImage',
    tag: 'Images',
    summary: 'Change pictures, or make new ones of them',
    schemas: {
      ImageEditForm: requestSchema(
        { prompt, image: file },
        {
          model,
          mask: {
            type: 'string',
            format: 'binary',
            description: 'A PNG of the same size, transparent where the picture is to change.',
          },
          ...ofGiven,
        },
      ),
      ImageEditRequest: {
        ...requestSchema(
          { prompt },
          { model, images: reference, image: reference, mask: reference, ...ofGiven },
        ),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': schemaRef('ImageEditForm'),
      'application/json': schemaRef('ImageEditRequest'),
    },
    answer,
    once: true,
  },
  'POST /images/variations': {
    id: 'createImageVariation',
    tag: 'Images',
    summary: 'Make the same picture anew',
    schemas: {
      ImageVariationForm: requestSchema({ image: file }, { model, ...ofVariations }),
      ImageVariationRequest: {
        ...requestSchema({}, { model, images: reference, image: reference, ...ofVariations }),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': schemaRef('ImageVariationForm'),
      'application/json': schemaRef('ImageVariationRequest'),
    },
    answer,
    once: true,
  },
};
