import { schemaOf } from '../../../scripts/generate-schemas.ts';
import { expect } from 'chai';
import { z } from 'zod';
import { bundledProxyMapNames } from '../../../src/config/profile/bundled.ts';
import { bundledMap } from '../../support/proxy.ts';
import { issueLines, run } from '../support.ts';

describe('proxy settings', () => {
  it('there is no proxy unless a map is named', () => {
    expect(run([]).proxy).to.equal(null);
    expect(run(['--proxy_host', '0.0.0.0', '--proxy_port', '1502']).proxy).to.equal(null);
  });

  it('a bundled map by its name, on its own port unless another is given', () => {
    for (const name of ['string-inverter-basic', 'string-inverter-basic.json']) {
      expect(run(['--proxy', name]).proxy).to.deep.equal({
        map: bundledMap('string-inverter-basic'),
        mapLabel: 'string-inverter-basic',
        host: '127.0.0.1',
        port: null,
      });
    }
    expect(run(['--proxy', 'hybrid-little-word-order', '--proxy_host', '::1', '--proxy_port', '0']).proxy).to.include({
      host: '::1',
      port: 0,
    });
  });

  it('a file, relative to where it is named, JSON or YAML, which is checked later', () => {
    const files = {
      '/site/my.json': '{ "name": "mine" }',
      '/site/sub/c.yaml': 'proxy: m.yaml\n',
      '/site/sub/m.yaml': 'name: other\n',
    };
    expect(run(['--proxy', 'my.json'], { files }).proxy).to.deep.include({ map: { name: 'mine' }, mapLabel: 'my' });
    expect(run(['--config', 'sub/c.yaml'], { files }).proxy).to.deep.include({ map: { name: 'other' }, mapLabel: 'm' });
    expect(run([], { env: { DERBENCH_PROXY: 'my.json' }, files }).proxy).to.deep.include({ mapLabel: 'my' });
  });

  it('files that are missing or are no mapping are named', () => {
    expect(issueLines(['--proxy', 'string-inverter'])).to.deep.equal([
      '--proxy: given "/site/string-inverter"; allowed: the path of a file that exists, or a bundled map ' +
        '(hybrid-little-word-order, string-inverter-basic); did you mean string-inverter-basic?',
    ]);
    expect(issueLines(['--proxy', 'a.json'], { files: { '/site/a.json': '{ "name": ' } })[0]).to.match(
      /^--proxy: \/site\/a\.json: cannot be parsed: /,
    );
    expect(issueLines(['--proxy', 'a.json'], { files: { '/site/a.json': '[]' } })).to.deep.equal([
      '--proxy: /site/a.json: given no mapping; allowed: a mapping of keys to values',
    ]);
    expect(issueLines(['--proxy_port', '65536'])[0]).to.contain('allowed: a whole number from 0 to 65535');
  });

  it('the bundled maps pass the published schema, and it refuses what is not of its form', () => {
    const schema = z.fromJSONSchema(schemaOf('proxy-map'));
    for (const name of bundledProxyMapNames) expect(schema.safeParse(bundledMap(name)).success, name).to.equal(true);
    const [register] = bundledMap('string-inverter-basic').registers;
    const withRegister = (members: object) =>
      schema.safeParse({ name: 'm', registers: [{ ...register, ...members }] }).success;
    expect(withRegister({})).to.equal(true);
    for (const wrong of [{ address: 65_536 }, { type: 'int8' }, { point: 'W' }, { colour: 'red' }, { table: 'coil' }])
      expect(withRegister(wrong), JSON.stringify(wrong)).to.equal(false);
  });
});
