import { expect } from 'chai';
import { Site, id } from '../../ocpp/whole/site.ts';

const at = `evse/${id}/connectors/1`;
const bearer = (status: string) => () => ({ idTagInfo: { status } });

describe('REST: sessions of a charging station whose tokens a central system decides about (9.2)', () => {
  let site: Site;
  let accepted: () => object;
  const refused = async (path: string, body: object, status: number) => {
    const answer = await site.rest(`${at}/${path}`, body);
    expect(answer.status, answer.text).to.equal(status);
    return answer.json.detail as string;
  };
  const starts = () => site.station.callsOf('StartTransaction').length;
  before(async () => {
    site = await Site.open();
    accepted = site.station.answers['Authorize'] as () => object;
  });
  after(() => site.close());

  it('start without a vehicle is a conflict, and nobody is asked', async () => {
    expect(await refused('start', { id_token: 'TAG-1' }, 409)).to.include('no vehicle is plugged in');
    expect(site.station.callsOf('Authorize')).to.deep.equal([]);
  });

  it('start needs a token where plugging in presents none', async () => {
    await site.post(`${at}/plug`, { ev: { soc_pct: 20 } });
    expect(await refused('start', {}, 422)).to.include('/id_token');
  });

  it('a token that the central system refuses is a conflict with its status', async () => {
    site.station.answers['Authorize'] = bearer('Blocked');
    expect(await refused('start', { id_token: 'TAG-9' }, 409)).to.include('the token is refused with Blocked');
    site.station.answers['Authorize'] = accepted as never;
    expect((await site.get(at)).session).to.equal(null);
    expect(starts()).to.equal(0);
  });

  it('one that it accepts starts a session, whose transaction gets the id of the central system', async () => {
    const session = await site.post(`${at}/start`, { id_token: 'TAG-1' });
    expect(session).to.include({ id_token: 'TAG-1', state: 'starting', session_id: '1', transaction_id: 'local-1' });
    await site.settle();
    expect((await site.get(at)).session).to.include({ session_id: '1', transaction_id: '1', offline: false });
    expect(site.station.callsOf('Authorize').map(({ payload }) => payload.idTag)).to.deep.equal(['TAG-9', 'TAG-1']);
    expect(starts()).to.equal(1);
  });

  it('the same token again is a conflict and stops nothing', async () => {
    expect(await refused('start', { id_token: 'TAG-1' }, 409)).to.include('a session is running');
    await site.advance(60, 10);
    expect((await site.get(at)).session.state).to.equal('active');
  });

  it('authorize false asks nobody', async () => {
    await site.post(`${at}/stop`);
    const session = await site.post(`${at}/start`, { authorize: false, id_token: 'TAG-9' });
    expect(session).to.include({ id_token: 'TAG-9', session_id: '2' });
    await site.settle();
    expect(site.station.callsOf('Authorize')).to.have.lengthOf(2);
    expect(site.station.callsOf('StartTransaction').at(-1)?.payload.idTag).to.equal('TAG-9');
    await site.post(`${at}/stop`);
  });

  it('without a token that of plugging in is presented, where it presents one', async () => {
    site.do({ kind: 'evse.behaviour', autoAuthorize: true });
    expect(await site.post(`${at}/start`)).to.include({ id_token: 'AUTO', session_id: '3' });
    expect(site.station.callsOf('Authorize').at(-1)?.payload.idTag).to.equal('AUTO');
  });
});
