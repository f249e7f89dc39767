import { expect } from 'chai';
import { invocationOf } from '../../../src/app/cli/invocation.ts';
import type { Start } from '../../../src/app/cli/invocation.ts';

const execPath = '/usr/bin/node';
const folder = '/home/a/lab';
const npx = { npm_lifecycle_event: 'npx', PATH: '/home/a/lab/node_modules/.bin:/usr/bin' };

describe('form of invocation', () => {
  for (const [form, start, command] of [
    ['npm start', { script: '/home/a/lab/scripts/start.mjs', env: { npm_lifecycle_event: 'start' } }, 'npm start --'],
    ['the script of npm start', { script: '/home/a/lab/scripts/start.mjs' }, 'node scripts/start.mjs'],
    ['node in the checkout', { script: '/home/a/lab/dist/main.js' }, 'node dist/main.js'],
    ['node elsewhere', { script: '/opt/der bench/dist/main.js' }, 'node "/opt/der bench/dist/main.js"'],
    ['npx', { script: '/home/a/lab/node_modules/.bin/derbench', env: npx }, 'npx --no-install derbench'],
    ['a global package', { script: '/usr/bin/derbench', env: { PATH: '/bin:/usr/bin' } }, 'derbench'],
    ['a path below', { script: '/home/a/lab/node_modules/.bin/derbench' }, 'node_modules/.bin/derbench'],
    ['a file here', { script: '/home/a/lab/derbench' }, './derbench'],
    ['a path elsewhere', { script: '/opt/bin/derbench', env: { PATH: '/usr/bin' } }, '/opt/bin/derbench'],
    ['the archive', { script: '/opt/d/lib/derbench/dist/main.js', execPath: '/opt/d/lib/node' }, 'derbench'],
  ] as const satisfies readonly (readonly [string, Partial<Start> & { script: string }, string])[])
    it(`of ${form} is ${command}`, () => {
      expect(invocationOf({ execPath, folder, env: {}, ...start })).to.equal(command);
    });
});
