import { expect, test } from 'vitest';
import en from '../words/en/shared.ts';
import zh from '../words/zh/shared.ts';
import { operatorDestinations, userDestinations } from './navigation.ts';

test.each([['en', en.nav] as const, ['zh', zh.nav] as const])(
  'each page of the menu has a name of its own, %s',
  (_, nav) => {
    const names = [...userDestinations, ...operatorDestinations].map(({ name }) => nav[name]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  },
);
