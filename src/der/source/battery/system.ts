import { keptMembers, keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';
import type { BatteryInhibit, BatteryParameters, BatteryState } from '../../../contract/kinds/battery.ts';
import { secondsPerHour } from '../constants.ts';
import { BatteryBank } from './bank.ts';
import { bankLimits } from './bank-limits.ts';
import type { BankBounds, BankLimits } from './bank-limits.ts';
import {
  alongPolyline,
  chargeOverSoc,
  chargeOverTemperature,
  currentHeadroom,
  dischargeOverSoc,
  dischargeOverTemperature,
  meanOcvV,
  standbyShare,
} from './cell-spec.ts';
import type { CellSpec } from './cell-spec.ts';
import { Contactors, addFaults } from './protection.ts';
import { ForcedControl } from './control.ts';
import type { BatteryFault } from './protection.ts';
import { SocGauge, SocWindow } from './soc.ts';
import { extremeCellV } from './view.ts';

/** Share of the capacity by which the state of health falls over the cycle life. */
const fadeOverLife = 0.2;
const minSoh = 0.5;
/** The cells are full or empty when their voltage bounds allow less current than this per capacity, 1/h. */
const endCurrentPerHour = 0.005;
/** A voltage bound means full or empty only this close to the ends of the state of charge. */
const endSoc = 0.1;
/** A sub-step that would pass a bound ends at it, but has this minimum length. */
const minStepS = 0.001;
const lookAheadS = 2;
/** Margin for the voltage and losses in an estimate of the charge moved. */
const stockMargin = 1.2;
/** Share of a limit that moves with charge or temperature at which it may bound the power. */
const limitMargin = 0.05;

/** Power at the DC terminals, magnitudes. */
export interface TerminalPowers {
  dischargeW: number;
  chargeW: number;
}

/**
 * A bank with its management system: contactors, limits, faults, counters. Powers at the DC terminals, + = discharge.
 */
export class BatterySystem {
  readonly bank: BatteryBank;
  readonly contactors: Contactors;
  readonly window = new SocWindow();
  readonly forced = new ForcedControl();
  readonly faults = new Set<BatteryFault>();
  readonly gauge: SocGauge;
  /** limits of the prepared sub-step */
  readonly prepared: TerminalPowers = { dischargeW: 0, chargeW: 0 };
  /** operating point */
  powerW = 0;
  currentA = 0;
  chargedWh = 0;
  dischargedWh = 0;
  standbyWh = 0;
  /** counts causes of power jumps: commands, ends of forced modes, bounds that block or reopen a direction */
  jumps = 0;
  /** true: discharge may use the reserve */
  reserveOpen = false;
  /** lower bound of normal dispatch */
  reserveMinPct = 0;
  /** upper bound of normal dispatch */
  reserveMaxPct = 100;
  readonly #parameters: BatteryParameters;
  readonly #spec: CellSpec;
  readonly #bounds: BankBounds = {
    lowSoc: 0,
    highSoc: 1,
    dischargeA: 0,
    chargeA: 0,
    enoughDischargeW: 0,
    enoughChargeW: 0,
  };
  readonly #limits: BankLimits = { dischargeW: 0, chargeW: 0, dischargeVoltageA: 0, chargeVoltageA: 0 };
  readonly #now: TerminalPowers = { dischargeW: 0, chargeW: 0 };
  readonly #ratedA: number;
  #standbyW = 0;
  /** `bank.refreshes` at the last check for faults and of the shares of the rating */
  #assessedRefresh = -1;
  #dischargeShare = 1;
  #chargeShare = 1;

  constructor(parameters: BatteryParameters, spec: CellSpec, random: RandomStream) {
    const p = parameters;
    this.#parameters = p;
    this.#spec = spec;
    this.gauge = new SocGauge(p.socDrift);
    this.bank = new BatteryBank(
      {
        strings: p.strings,
        modules: p.modules,
        cells: p.cells,
        spec,
        capacityWh: p.capacityWh,
        soc: p.socPct / 100,
        soh: p.sohPct / 100,
        thermalTimeConstantS: p.thermalTimeConstantS,
      },
      random,
    );
    this.contactors = new Contactors(this.bank);
    this.#ratedA = (currentHeadroom * p.powerW) / (p.modules * p.cells * meanOcvV(spec.ocvV));
    this.restart();
  }

  get voltageV(): number {
    return this.bank.closedCount > 0 ? this.bank.busVoltageV : 0;
  }

  /** Equivalent full cycles. */
  get cycles(): number {
    return (this.chargedWh + this.dischargedWh) / (2 * this.#parameters.capacityWh);
  }

  /**
   * Nameplate energy times reported state of charge and state of health, of the closed strings, or of all when none is
   * closed.
   */
  get energyWh(): number {
    const { bank } = this;
    // balanced cells hold a little more than the nameplate
    const share = bank.closedCount > 0 ? Math.min(bank.closedAh / bank.nominalAh, bank.soh) : bank.soh;
    return this.#parameters.capacityWh * share * this.gauge.reported(bank.meanSoc);
  }

  get state(): BatteryState {
    if (this.faults.size > 0) return 'fault';
    if (this.bank.closedCount === 0) return this.contactors.closingCount > 0 ? 'initializing' : 'disconnected';
    const inhibit = this.inhibit;
    if (inhibit === 'temperature') return 'suspending';
    if (this.powerW !== 0) return 'connected';
    return inhibit === 'none' ? 'standby' : 'soc_protection';
  }

  get inhibit(): BatteryInhibit {
    if (this.#dischargeShare === 0 || this.#chargeShare === 0) return 'temperature';
    if (this.window.lowBlocked) return 'soc_floor';
    return this.window.highBlocked ? 'soc_ceiling' : 'none';
  }

  /** Requested power of the forced mode, W, magnitude. */
  get requestedW(): number {
    return this.forced.mode === 'idle' ? 0 : (this.forced.powerW ?? this.#parameters.powerW);
  }

  /** Time until the next bound or timer, s; Infinity: none near. */
  get nextEventS(): number {
    return Math.min(this.forced.remainingS, this.contactors.nextPreChargeEndS, this.#toBoundS());
  }

  #toBoundS(): number {
    const { bank, powerW } = this;
    const rateA = Math.abs(bank.busCurrentA);
    if (powerW === 0 || rateA === 0) return Infinity;
    if (powerW > 0 ? this.window.lowBlocked : this.window.highBlocked) return Infinity;
    const socToBound = powerW > 0 ? bank.meanSoc - this.#bounds.lowSoc : this.#bounds.highSoc - bank.meanSoc;
    const seconds = (socToBound * bank.closedAh * secondsPerHour) / rateA;
    return seconds > 0 && seconds < lookAheadS ? Math.max(seconds, minStepS) : Infinity;
  }

  /**
   * True if the battery surely gives this power for `dtS`, + discharge: the state of charge stays off its bounds, and
   * its course moves no limit to the power.
   */
  holds(powerW: number, dtS: number): boolean {
    if (powerW === 0) return true;
    const { bank, prepared } = this;
    const { lowSoc, highSoc } = this.#bounds;
    const [limitW, line] = powerW > 0 ? [prepared.dischargeW, dischargeOverSoc] : [prepared.chargeW, chargeOverSoc];
    const movedSoc =
      (stockMargin * (Math.abs(powerW) + this.#standbyW) * dtS) / (bank.busVoltageV * bank.closedAh * secondsPerHour);
    const soc = bank.meanSoc - Math.sign(powerW) * movedSoc;
    if (!(soc > lowSoc && soc < highSoc)) return false;
    const isAtRating = Math.abs(powerW) >= (1 - limitMargin) * limitW && limitW < this.#parameters.powerW;
    return !isAtRating && alongPolyline(line, soc) * limitW >= (1 - limitMargin) * Math.abs(powerW);
  }

  /** Computes the limits of the next `dtS`; 0 s: of this instant. */
  prepare(dtS: number): void {
    this.#computePowers(dtS, this.prepared);
    this.#updateWindow();
    this.#applyWindow(this.prepared);
  }

  /** Limits of this instant, regardless of bounds ahead. The result is overwritten by the next call. */
  powersNow(): TerminalPowers {
    const standbyW = this.#standbyW;
    this.#computePowers(0, this.#now);
    this.#standbyW = standbyW;
    this.#applyWindow(this.#now);
    return this.#now;
  }

  /** Advances by `dtS` at a power within the prepared limits. */
  advance(dtS: number, powerW: number): void {
    const { bank } = this;
    const connected = bank.closedCount > 0;
    bank.advance(dtS, connected ? powerW + this.#standbyW : 0);
    const hours = dtS / secondsPerHour;
    if (connected) this.standbyWh += this.#standbyW * hours;
    if (powerW > 0) this.dischargedWh += powerW * hours;
    else this.chargedWh -= powerW * hours;
    this.gauge.advance(dtS, (Math.abs(powerW) * hours) / (2 * this.#parameters.capacityWh));
    if (this.forced.advance(dtS)) this.jumps += 1;
    this.contactors.advance(dtS);
    if (bank.refreshes !== this.#assessedRefresh) this.#assess();
    this.#updateBounds();
    this.#updateWindow();
  }

  /** Sets the operating point; no time passes. */
  operateAt(powerW: number): void {
    const connected = this.bank.closedCount > 0;
    this.bank.operate(connected ? powerW + this.#standbyW : 0);
    this.powerW = connected ? powerW : 0;
    this.currentA = connected && this.bank.busVoltageV > 0 ? powerW / this.bank.busVoltageV : 0;
  }

  /** Clips the operating point to new limits. @param dtS length of the prepared sub-step, or 0 */
  rebalance(dtS: number): void {
    this.jumps += 1;
    this.prepare(dtS);
    this.operateAt(Math.max(-this.prepared.chargeW, Math.min(this.prepared.dischargeW, this.powerW)));
  }

  clearFaults(): void {
    this.faults.clear();
    this.#assess();
    this.contactors.hold(this.faults.size > 0);
  }

  restart(): void {
    const p = this.#parameters;
    this.reserveOpen = false;
    this.reserveMinPct = p.socReserveMinPct;
    this.reserveMaxPct = p.socReserveMaxPct;
    this.forced.release();
    this.chargedWh = this.dischargedWh = this.standbyWh = 0;
    this.bank.soh = p.sohPct / 100;
    this.bank.restart(p.socPct / 100);
    this.window.reset();
    this.gauge.reset();
    this.clearFaults();
    this.contactors.requestAll(true);
    this.contactors.closeAtOnce();
    this.prepare(0);
    this.operateAt(0);
  }

  /** Sets the state of charge, 0..1. */
  fill(soc: number): void {
    this.bank.fill(soc);
    this.window.reset();
    this.gauge.reset();
  }

  /**
   * Updates ageing, faults, and the shares of the rating until the next refresh; called after a refresh of the cells.
   */
  #assess(): void {
    const { bank } = this;
    const { sohPct, cycleLife } = this.#parameters;
    this.#assessedRefresh = bank.refreshes;
    if (cycleLife !== null) bank.soh = Math.max(minSoh, sohPct / 100 - (fadeOverLife * this.cycles) / cycleLife);
    const soc = bank.meanSoc;
    this.#dischargeShare = alongPolyline(dischargeOverSoc, soc);
    this.#chargeShare = alongPolyline(chargeOverSoc, soc);
    let discharge = 1;
    let charge = 1;
    let minV = Infinity;
    let maxV = -Infinity;
    for (let k = 0; k < bank.stringCount; k += 1) {
      const temperatureC = bank.temperatureC[k] ?? 0;
      discharge = Math.min(discharge, alongPolyline(dischargeOverTemperature, temperatureC));
      charge = Math.min(charge, alongPolyline(chargeOverTemperature, temperatureC));
      minV = Math.min(minV, extremeCellV(bank, k, 'low'));
      maxV = Math.max(maxV, extremeCellV(bank, k, 'high'));
    }
    this.#dischargeShare *= discharge;
    this.#chargeShare *= charge;
    addFaults(bank, this.#spec, minV, maxV, this.faults);
    if (this.faults.size > 0) this.contactors.hold(true);
  }

  #updateBounds(): void {
    const p = this.#parameters;
    const { mode } = this.forced;
    const bounds = this.#bounds;
    const closedShare = this.bank.closedCount / p.strings;
    const closedRatedA = this.#ratedA * closedShare;
    const ratedW = p.powerW * closedShare;
    bounds.lowSoc = this.reserveOpen || mode === 'discharge' ? p.socMinPct / 100 : this.reserveMinPct / 100;
    bounds.highSoc = mode === 'charge' ? p.socMaxPct / 100 : this.reserveMaxPct / 100;
    bounds.dischargeA = closedRatedA * this.#dischargeShare;
    bounds.chargeA = closedRatedA * this.#chargeShare;
    bounds.enoughDischargeW = ratedW * (this.#dischargeShare + standbyShare);
    bounds.enoughChargeW = ratedW * this.#chargeShare;
  }

  #computePowers(dtS: number, to: TerminalPowers): void {
    const { bank } = this;
    const p = this.#parameters;
    if (bank.refreshes !== this.#assessedRefresh) this.#assess();
    this.#updateBounds();
    bankLimits(bank, this.#spec, this.#bounds, dtS, this.#limits);
    // at the hard floor the management system sleeps and drains the cells no further
    const aboveFloorAh = Math.max(0, bank.meanSoc - p.socMinPct / 100) * bank.closedAh;
    const maxW = dtS > 0 ? (aboveFloorAh * secondsPerHour * bank.busEmfV) / dtS : Infinity;
    this.#standbyW = aboveFloorAh > 0 ? Math.min(standbyShare * p.powerW, maxW) : 0;
    const ratedW = (p.powerW * bank.closedCount) / p.strings;
    to.dischargeW = Math.max(0, Math.min(ratedW * this.#dischargeShare, this.#limits.dischargeW - this.#standbyW));
    to.chargeW =
      this.#limits.chargeW > 0 ? Math.min(ratedW * this.#chargeShare, this.#limits.chargeW + this.#standbyW) : 0;
  }

  #updateWindow(): void {
    const { bank } = this;
    if (bank.closedCount === 0) return;
    const soc = bank.meanSoc;
    const endA = endCurrentPerHour * bank.closedAh;
    const empty = soc < endSoc && this.#limits.dischargeVoltageA < endA;
    const full = soc > 1 - endSoc && this.#limits.chargeVoltageA < endA;
    const { window } = this;
    const { lowBlocked, highBlocked } = window;
    window.update(soc, this.#bounds.lowSoc, this.#bounds.highSoc, empty, full);
    // a reserve below the ceiling does not show that the battery is full
    const isTop = full || this.#bounds.highSoc >= this.#parameters.socMaxPct / 100;
    if (window.highBlocked && !highBlocked && isTop) this.gauge.reset();
    if (window.lowBlocked !== lowBlocked || window.highBlocked !== highBlocked) this.jumps += 1;
  }

  #applyWindow(powers: TerminalPowers): void {
    if (this.window.lowBlocked) powers.dischargeW = 0;
    if (this.window.highBlocked) powers.chargeW = 0;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      bank: this.bank.kept(),
      contactors: this.contactors.kept(),
      window: this.window.kept(),
      forced: this.forced.kept(),
      gauge: this.gauge.kept(),
      prepared: keptMembers(this.prepared, 'dischargeW', 'chargeW'),
      members: this.#keptMembers(),
    });
  }

  /** State that fits other parameters: the state of charge, as the mean of the strings, and the counters. */
  lasting(): Kept {
    return keptParts({
      bank: keptRecord(
        () => ({ soc: Array.from(this.bank.soc) }),
        ({ soc }) => {
          this.fill(soc.reduce((sum, each) => sum + each, 0) / Math.max(1, soc.length));
        },
      ),
      members: keptMembers(this, 'chargedWh', 'dischargedWh', 'standbyWh'),
    });
  }

  #keptMembers(): Kept {
    return keptRecord(
      () => ({
        powerW: this.powerW,
        currentA: this.currentA,
        chargedWh: this.chargedWh,
        dischargedWh: this.dischargedWh,
        standbyWh: this.standbyWh,
        jumps: this.jumps,
        reserveOpen: this.reserveOpen,
        reserveMinPct: this.reserveMinPct,
        reserveMaxPct: this.reserveMaxPct,
        standbyW: this.#standbyW,
        assessedRefresh: this.#assessedRefresh,
        dischargeShare: this.#dischargeShare,
        chargeShare: this.#chargeShare,
        faults: [...this.faults],
      }),
      ({ faults, ...members }) => {
        ({
          powerW: this.powerW,
          currentA: this.currentA,
          chargedWh: this.chargedWh,
          dischargedWh: this.dischargedWh,
          standbyWh: this.standbyWh,
          jumps: this.jumps,
          reserveOpen: this.reserveOpen,
          reserveMinPct: this.reserveMinPct,
          reserveMaxPct: this.reserveMaxPct,
          standbyW: this.#standbyW,
          assessedRefresh: this.#assessedRefresh,
          dischargeShare: this.#dischargeShare,
          chargeShare: this.#chargeShare,
        } = members);
        this.faults.clear();
        for (const fault of faults) this.faults.add(fault);
        this.#updateBounds();
      },
    );
  }
}
