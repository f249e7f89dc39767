/**
 * Vehicles that come and go by themselves: arrivals at each connector are a Poisson process in simulated time, the same
 * for the same seed whatever the connectors do and however long the ticks are.
 */
import { badValue, SimError } from '../../../core/errors.ts';
import type { EvseCommand, EvseConnectorCommand } from '../../../contract/kinds/evse-commands.ts';
import type { EvPatch, EvseGenerator } from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';
import { createRandom } from '../../../core/random.ts';
import type { RandomStream } from '../../../core/random.ts';
import { statusOf } from './connector.ts';
import type { Generator, Line, Station } from './station.ts';
import { phaseTraits } from './phases.ts';

type GeneratorCommand = Extract<EvseCommand, { readonly kind: 'evse.generator' }>;

/** Carries out the command of a person. @throws SimError */
export type Act = (command: EvseConnectorCommand, by: Origin) => void;

/** One vehicle in 1,000 hours, so that clocks can show the instant of the next arrival. */
const minRatePerHour = 0.001;
const maxRatePerHour = 60;
const maxToken = 255;
/** Time after which a vehicle tries again to leave whose cable is locked by a command, s. */
const retryS = 60;
/** Events this near are due: sub-steps end at them. */
const dueToleranceS = 2e-6;

/** Ranges of a vehicle, drawn evenly. */
const socPct = { from: 5, to: 70 } as const;
const capacityWh = { from: 30_000, to: 100_000 } as const;
const stayS = { from: 600, to: 4 * 3600 } as const;

function between(random: RandomStream, { from, to }: { readonly from: number; readonly to: number }): number {
  return from + (to - from) * random.next();
}

/** Time to the next arrival of a Poisson process, s. */
function gapS(random: RandomStream, ratePerHour: number): number {
  return (-Math.log(1 - random.next()) * 3600) / ratePerHour;
}

function check({ generator }: GeneratorCommand): void {
  if (generator === null) return;
  const { seed, ratePerHour, idToken } = generator;
  if (!Number.isSafeInteger(seed)) throw badValue('seed', seed, 'a whole number');
  if (!(ratePerHour >= minRatePerHour && ratePerHour <= maxRatePerHour))
    throw badValue('ratePerHour', ratePerHour, `${minRatePerHour} to ${maxRatePerHour}`);
  if (idToken.length < 1 || idToken.length > maxToken)
    throw badValue('idToken', idToken, `1 to ${maxToken} characters`);
}

/** Replaces the running generator, or ends it. @throws SimError COMMAND_BAD_VALUE */
export function setGenerator(station: Station, command: GeneratorCommand, by: Origin, act: Act): void {
  check(command);
  const { generator, vehicles = 'leave' } = command;
  const former = station.generator;
  station.generator = null;
  if (former !== null && vehicles === 'leave') for (const line of former.lines) leave(former, line, act);
  if (generator === null) return;
  const { seed, stream, ratePerHour, idToken } = generator;
  const { nowS } = station;
  station.generator = {
    seed,
    ratePerHour,
    idToken,
    by,
    startedAtS: nowS,
    arrivals: 0,
    turnedAway: 0,
    departures: 0,
    lines: station.connectors.map((c) => {
      const random = createRandom(seed, 'sessions', stream, c.p.connectorId);
      const arrivalDueS = nowS + gapS(random, ratePerHour);
      return { c, random, arrivalDueS, departureDueS: Infinity, vehicleId: null, count: 0 };
    }),
  };
}

/** Instant of the next arrival or departure, simulated seconds. */
export function generatorDueS({ generator }: Station): number {
  let dueS = Infinity;
  if (generator !== null)
    for (const line of generator.lines) dueS = Math.min(dueS, line.arrivalDueS, line.departureDueS);
  return dueS;
}

/** Runs the arrivals and departures that are due; departures first, so that the connector is free. */
export function runGenerator(station: Station, act: Act): void {
  const { generator, nowS } = station;
  if (generator === null) return;
  for (const line of generator.lines) {
    // a listener of the station may end the generator
    while (Math.min(line.arrivalDueS, line.departureDueS) <= nowS + dueToleranceS && station.generator === generator) {
      if (line.departureDueS <= line.arrivalDueS) {
        line.departureDueS = leave(generator, line, act) ? Infinity : line.departureDueS + retryS;
      } else arrive(station, generator, line, act);
    }
  }
}

/** Draws the vehicle even if the connector is not available, so that later vehicles do not depend on that. */
function arrive(station: Station, generator: Generator, line: Line, act: Act): void {
  const { c, random } = line;
  const arrivedS = line.arrivalDueS;
  line.arrivalDueS += gapS(random, generator.ratePerHour);
  line.count += 1;
  const id = `generated-${c.p.connectorId}-${line.count}`;
  const staysS = between(random, stayS);
  const ev: EvPatch = {
    id,
    socPct: Math.round(10 * between(random, socPct)) / 10,
    batteryCapacityWh: Math.round(between(random, capacityWh) / 100) * 100,
  };
  const { connectorId } = c.p;
  const plugged =
    statusOf(c) === 'available' &&
    attempt(() => {
      act({ kind: 'evse.plug', connectorId, ev }, generator.by);
    });
  if (!plugged) {
    generator.turnedAway += 1;
    return;
  }
  generator.arrivals += 1;
  line.vehicleId = id;
  line.departureDueS = arrivedS + staysS;
  // with automatic authorisation, plugging in has presented a token
  if (c.phase === 'connected' && !station.behaviour.autoAuthorize)
    attempt(() => {
      act({ kind: 'evse.authorize', connectorId, idToken: generator.idToken }, generator.by);
    });
}

/** @returns false: the vehicle cannot leave */
function leave(generator: Generator, line: Line, act: Act): boolean {
  const { c, vehicleId } = line;
  const { connectorId } = c.p;
  // a user may have unplugged the vehicle
  if (vehicleId === null || c.vehicle?.id !== vehicleId) {
    line.vehicleId = null;
    return true;
  }
  if (phaseTraits[c.phase].session)
    attempt(() => {
      act({ kind: 'evse.stop', connectorId }, generator.by);
    });
  const isUnplugged = attempt(() => {
    act({ kind: 'evse.unplug', connectorId }, generator.by);
  });
  if (isUnplugged) [line.vehicleId, generator.departures] = [null, generator.departures + 1];
  return isUnplugged;
}

/** Runs a command. @returns false: the station refused the command */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!(error instanceof SimError) || error.code === 'INTERNAL') throw error;
    return false;
  }
}

export function generatorDetail({ generator }: Station): EvseGenerator | null {
  if (generator === null) return null;
  const { seed, ratePerHour, idToken, startedAtS, arrivals, turnedAway, departures, lines } = generator;
  return {
    seed,
    ratePerHour,
    idToken,
    startedAtS,
    arrivals,
    turnedAway,
    departures,
    present: lines.filter(({ c, vehicleId }) => vehicleId !== null && c.vehicle?.id === vehicleId).length,
    nextArrivalS: Math.min(...lines.map(({ arrivalDueS }) => arrivalDueS)),
  };
}
