import { expect } from 'chai';
import { requestIssue } from '../../src/app/request-issues.ts';

describe('issues of a configuration in answers to requests', () => {
  const cases: readonly (readonly [name: string, detail: string, shown: string])[] = [
    ['--csip_cert', 'given "/site/keys/cert.pem"; allowed: a path', '/csip_cert: given "cert.pem"; allowed: a path'],
    ['--csip_key', '/site/key.pem: is not a key', '/csip_key: key.pem: is not a key'],
    ['/mb_cert', '/a/b c/x.pem: cannot be read', '/mb_cert: x.pem: cannot be read'],
    // no file
    ['--dcap', 'given "/lab/dcap"; allowed: a path', '/dcap: given "/lab/dcap"; allowed: a path'],
    ['/devices/0/profile', 'given "/lab/x.yaml"', '/devices/0/profile: given "/lab/x.yaml"'],
    ['--csip_cert', 'given "certificate:a/b/c"', '/csip_cert: given "certificate:a/b/c"'],
  ];
  for (const [name, detail, shown] of cases)
    it(`${name}: ${detail}`, () => {
      const issue = requestIssue({ name, detail });
      expect(`${issue.name}: ${issue.detail}`).to.equal(shown);
    });
});
