import { type Section, writePage } from './results.ts';

const introduction = `# What growth costs

A request should cost the same whether there is one key or a hundred thousand. Written by \`npm run bench:growth -- --write\`, each section from its own last run: gateways of all sizes run at the same time on one machine and are asked in turn, a third of a
second each, so that figures of one table compare with each other and not with another table's. CPU is that of all threads of the process, the lower quartile of many such slices.`;

const sections: Readonly<Record<string, Section>> = {
  keys: {
    title: 'Keys',
    about: `All of them in use, one after the other; a hundred belong to one user, who has money, or all of them to one. Each has asked once before: its first request reads the key from the database and draws money. *The same 16 keys* are
asked with in the same gateways between the other slices: what is more than with one key is what so many keys cost by being there, and what is less than with all of them in turn is what it costs that nothing of a key or its user was touched for long.
Charges of one user in one commit are one change of his balance and stand side by side; with many users each has his own balance and a page of his own in the index of records by account, which is what more is written, and what
the database's thread, beside the main one, does more; money that a user has not touched for ten seconds goes back and is drawn again. So many keys of one user show what keys alone cost.`,
  },
  'keys-postgres': {
    title: 'Keys on PostgreSQL',
    about:
      "The same on a server of its own on the same machine; what PostgreSQL's processes for this gateway need is a column beside the gateway's own; they count among the other processes below.",
  },
  channels: {
    title: 'Channels',
    about: `All of them sell the same model to the same group, so that each request has all to choose from; each has connections of its own. One request in a thousand goes to each of a thousand channels, and finds its connection, and all that
belongs to it, cold. A test holds that they are not looked at one by one.`,
  },
  records: {
    title: 'Usage records',
    about: `In the database before the first request, of two hundred users, rolled up by the hour (\`npm run bench:console\` makes such databases), beside an empty one. Two hundred users ask in turn, those of the records where there are some. Disks are read where
neither the database nor the machine has kept a page, and written for each commit. What is more on SQLite is what is written, and nearly all pages of its log that are more are of the index of records by account (told by what stands in them): among many
records each user's latest are on a page of their own, and a commit writes one for each user in it. PostgreSQL's processes count among the others below.`,
  },
  streams: {
    title: 'Open streams',
    about: `One chunk at a time, to each stream in turn; nginx passes the same streams on. *All at once*: each stream gets a chunk in the same moment. *The same few*: the chunks go to sixteen of the streams, while all are open; what is less than in turn
is what it costs that nothing of a stream was touched for long. *Silent*: nobody says anything, and who waits for 15 s hears a comment, which nginx does not send; *longest wait* is that of somebody who asks for whole answers meanwhile, and contains what the machine itself took. Memory is what the
process has more than before it opened them, after some were open and have ended. A process that may have 20,000 files open has no more than 9,900 streams.`,
  },
  soak: {
    title: 'Time',
    about: `\`npm run bench:soak -- --minutes 30 --rate 12 --write\` asks for everything: chats whole and streamed, tools, messages, responses, embeddings, pictures, voices, recordings, clients that leave, vendors that fail in seven ways, nonsense. What is kept of the
database (8 MB of pages) is filled first. Memory may grow by 1 % of its level in ten minutes over the last two thirds of the time.`,
  },
};

/** Writes docs/benchmarks/growth.md from the last results. */
export function writeGrowthPage(): void {
  writePage(introduction, sections);
}
