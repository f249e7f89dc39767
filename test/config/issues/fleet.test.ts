import { expect } from 'chai';
import { issueLines, run } from '../support.ts';

const fleet = ['--fleet', 'nats://lab:4222'];
const files = {
  '/site/a.creds': '',
  '/site/a.nk': '',
  '/site/word': 'word',
  '/site/cert.pem': '',
  '/site/key.pem': '',
};
const creds = ['--fleet_creds', 'a.creds'];
const nkey = ['--fleet_nkey', 'a.nk'];
const user = ['--fleet_user', 'a', '--fleet_password_file', 'word'];

describe('settings of a shard that conflict', () => {
  for (const [words, issue] of [
    [[...creds, ...nkey], '--fleet_nkey: given together with --fleet_creds; allowed: one of the two'],
    [[...creds, ...user], '--fleet_user: given together with --fleet_creds; allowed: one of the two'],
    [[...nkey, ...user], '--fleet_user: given together with --fleet_nkey; allowed: one of the two'],
    [user.slice(0, 2), '--fleet_user: given without --fleet_password_file; allowed: both, or neither'],
    [user.slice(2), '--fleet_password_file: given without --fleet_user; allowed: both, or neither'],
    [['--fleet_cert', 'cert.pem'], '--fleet_cert: given without --fleet_key; allowed: both, or neither'],
    [['--fleet_key', 'key.pem'], '--fleet_key: given without --fleet_cert; allowed: both, or neither'],
    [['-N', '3', '--fleet_room', '2'], '--fleet_room: given 2 with 3 devices; allowed: at least the number of devices'],
  ] as const) {
    it(`refuses ${words.join(' ')}`, () => {
      expect(issueLines([...fleet, ...words], { files })).to.deep.equal([issue]);
    });
  }

  it('takes each login alone, and does not look at them without a fleet', () => {
    for (const login of [creds, nkey, user]) expect(run([...fleet, ...login], { files }).fleet).to.not.equal(null);
    expect(run([...creds, ...nkey], { files }).fleet).to.equal(null);
  });
});
