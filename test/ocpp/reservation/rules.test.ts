/** Reservations as values, for every version. */
import { expect } from 'chai';
import { evseConnectorStates } from '../../../src/contract/kinds/evse.ts';
import {
  assign,
  connectorAnswer,
  keptConnectors,
  reserveAnswers,
  stationAnswer,
} from '../../../src/ocpp/reservations.ts';
import type { Fits, Wish } from '../../../src/ocpp/reservations.ts';

const at = (connectorId: number, status: (typeof evseConnectorStates)[number]) => ({
  connectorId,
  status,
  reservation: null,
});
const wishes = (count: number): readonly Wish[] => Array.from({ length: count }, (_, i) => ({ reservationId: 10 + i }));
const any: Fits = () => true;
/** connectors 1 and 2 are AC, 3 is DC */
const byType: Fits = ({ connectorType }, connectorId) =>
  connectorType === undefined || connectorType === (connectorId === 3 ? 'dc' : 'ac');

describe('Reservations as values', () => {
  it('a connector answers by its status', () => {
    for (const status of evseConnectorStates)
      expect(connectorAnswer(at(1, status), 1), status).to.equal(reserveAnswers[status]);
  });

  it('a station answers for any connector', () => {
    const wish = { reservationId: 1 };
    const say = (connectors: Parameters<typeof stationAnswer>[0], waiting: number) =>
      stationAnswer(connectors, wish, wishes(waiting), any);
    expect(say([at(1, 'faulted'), at(2, 'faulted')], 0)).to.equal('Faulted');
    expect(say([at(1, 'faulted'), at(2, 'unavailable')], 0)).to.equal('Unavailable');
    expect(say([at(1, 'charging'), at(2, 'unavailable')], 0)).to.equal('Occupied');
    expect(say([at(1, 'charging'), at(2, 'available')], 1)).to.equal('Occupied');
    expect(say([at(1, 'charging'), at(2, 'available')], 0)).to.equal('Accepted');
  });

  it('the last free connectors are kept for those that wait', () => {
    const kept = (connectors: Parameters<typeof keptConnectors>[0], waiting: number) => [
      ...keptConnectors(connectors, wishes(waiting), any).keys(),
    ];
    expect(kept([at(1, 'available'), at(2, 'available')], 0)).to.deep.equal([]);
    expect(kept([at(1, 'available'), at(2, 'available')], 1)).to.deep.equal([]);
    expect(kept([at(1, 'charging'), at(2, 'available')], 1)).to.deep.equal([2]);
    expect(kept([at(1, 'available'), at(2, 'available')], 3)).to.deep.equal([1, 2]);
  });

  it('connectors of one type are kept for those that ask for it, whatever else is free', () => {
    const dc = { reservationId: 1, connectorType: 'dc' };
    const all = [at(1, 'available'), at(2, 'available'), at(3, 'available')];
    expect([...keptConnectors(all, [dc], byType)]).to.deep.equal([[3, dc]]);
    expect(stationAnswer(all, { reservationId: 2, connectorType: 'dc' }, [dc], byType)).to.equal('Occupied');
    expect(stationAnswer(all, { reservationId: 2 }, [dc], byType)).to.equal('Accepted');
    const ac = { reservationId: 2, connectorType: 'ac' };
    // the one for any connector makes room for the one that only connector 1 can serve
    const two = [at(1, 'available'), at(3, 'available')];
    expect([...assign([{ reservationId: 3 }, ac], [1, 3], byType).keys()].sort()).to.deep.equal([1, 3]);
    expect([...keptConnectors(two, [{ reservationId: 3 }, ac], byType).keys()]).to.deep.equal([1, 3]);
  });
});
