/** EndDevices, programs, controls and responses of one client for REST. */
import type {
  CsipControl,
  CsipCurve,
  CsipDefaultControl,
  CsipEndDevice,
  CsipLeftOutMode,
  CsipProgram,
  CsipResponse,
} from '../../contract/csip-client.ts';
import type { CsipEvent } from '../../contract/csip-reports.ts';
import type { LeftOutMode, ModeName } from '../control/model.ts';
import { modeTable, showModes, showSettings } from '../control/modes.ts';
import { scaledOf } from '../control/model.ts';
import type { EndDevice } from '../end-device.ts';
import type { KnownControl } from '../events/model.ts';
import type { QueuedResponse } from '../events/responses.ts';
import type { FullMember } from '../members.ts';
import type { EndDeviceFacts, FoundCurve, FoundProgram, Located } from '../walk/model.ts';
import { resolved } from '../walk/reader.ts';
import type { Received } from '../xml/schema.ts';
import type { EndDevice as EndDeviceDocument } from '../xml/documents.ts';

const ms = (seconds: number): number => seconds * 1000;
const restName = (mode: ModeName): string => modeTable[mode].rest;

function linksOf(document: Received<EndDeviceDocument>, base: string): Readonly<Record<string, string>> {
  const links = Object.entries(document).flatMap(([name, value]): [string, string][] =>
    name.endsWith('Link') && typeof value === 'object' && 'href' in value && typeof value.href === 'string'
      ? [[name, resolved(value.href, base) ?? value.href]]
      : [],
  );
  return Object.fromEntries(links);
}

export function endDeviceView(
  { url, base, document }: Located<EndDeviceDocument>,
  registration: CsipEndDevice['registration'],
  deviceIndices: readonly number[],
): CsipEndDevice {
  return {
    href: url,
    lfdi: document.lFDI?.toUpperCase() ?? null,
    sfdi: document.sFDI ?? null,
    deviceCategory: document.deviceCategory ?? null,
    enabled: document.enabled ?? null,
    changedServerMs: document.changedTime === undefined ? null : ms(document.changedTime),
    postRateS: document.postRate ?? null,
    registration,
    deviceIndices,
    links: linksOf(document, base),
  };
}

/** @param pin PIN of the settings; null: none */
export function ownEndDeviceView(
  facts: EndDeviceFacts,
  pin: number | null,
  { deviceIndices }: EndDevice,
): CsipEndDevice {
  const { registration } = facts;
  const registeredS = registration?.dateTimeRegistered;
  return endDeviceView(
    facts,
    registration && {
      pinMatches: pin === null || registration.pIN === undefined ? null : registration.pIN === pin,
      registeredServerMs: registeredS === undefined ? null : ms(registeredS),
    },
    deviceIndices,
  );
}

export function curveView({ url, document }: FoundCurve): CsipCurve {
  const { xMultiplier = 0, yMultiplier = 0 } = document;
  return {
    href: url,
    mrid: document.mRID ?? null,
    description: document.description ?? null,
    curveType: document.curveType ?? null,
    xMultiplier,
    yMultiplier,
    yRefType: document.yRefType ?? null,
    points: (document.CurveData ?? []).flatMap(({ xvalue, yvalue, excitation }) => {
      const [x, y] = [scaledOf(xvalue, xMultiplier), scaledOf(yvalue, yMultiplier)];
      return x === null || y === null ? [] : [{ x, y, excitation: excitation ?? null }];
    }),
    openLoopS: scaledOf(document.openLoopTms, -2),
    rampDecPctPerS: scaledOf(document.rampDecTms, -2),
    rampIncPctPerS: scaledOf(document.rampIncTms, -2),
    rampPt1S: scaledOf(document.rampPT1Tms, -2),
    vRefPct: scaledOf(document.vRef, -2),
  };
}

function leftOutView(leftOut: readonly LeftOutMode[] | undefined): readonly CsipLeftOutMode[] {
  return (leftOut ?? []).map(({ mode, ...rest }) => ({ mode: restName(mode), ...rest }));
}

function defaultView({ listed }: FoundProgram, endDevice: EndDevice): CsipDefaultControl | null {
  const { defaultControl, key, href } = listed;
  if (!defaultControl) return null;
  const id = `default ${key}`;
  const controlInForce = endDevice.inForce.find((control) => control.id === id);
  const out = endDevice.outcomeOf(id)?.leftOut ?? [];
  const isOut = (mode: ModeName) => out.some((each) => each.mode === mode);
  return {
    mrid: defaultControl.mrid,
    href: defaultControl.href,
    description: defaultControl.description,
    programHref: href,
    modes: showModes(defaultControl.control),
    modesInForce: (controlInForce?.modes ?? []).filter((mode) => !isOut(mode)).map(restName),
    settings: showSettings(defaultControl.control.settings ?? {}),
    leftOut: leftOutView(out),
  };
}

export function programView(program: FoundProgram, endDevice: EndDevice): CsipProgram {
  const { listed, mrid, fsaUrls, curves } = program;
  return {
    href: listed.href,
    mrid,
    description: listed.description,
    primacy: listed.primacy,
    fsaHrefs: fsaUrls,
    deviceIndices: endDevice.deviceIndices,
    defaultControl: defaultView(program, endDevice),
    controlCount: listed.controls?.length ?? 0,
    curves: curves.map(curveView),
  };
}

function responseView(response: QueuedResponse, { lfdi, deviceIndices }: EndDevice): CsipResponse {
  const { mrid, status, createdS, replyTo, result, sentAtMs, attempts, httpStatus, lastError } = response;
  return {
    mrid,
    endDeviceLfdi: lfdi,
    deviceIndices,
    status,
    createdServerMs: ms(Math.floor(createdS)),
    replyTo,
    result,
    sentAtMs,
    attempts,
    httpStatus,
    lastError,
  };
}

export function responsesView({ submissions, endDevice }: FullMember, mrid?: string): readonly CsipResponse[] {
  return submissions.responses.list(mrid).map((response) => responseView(response, endDevice));
}

export function controlView(control: KnownControl, member: FullMember): CsipControl {
  const { endDevice } = member;
  const { listed, programKey, primacy, state, modesInForce, optedOut } = control;
  const outcome = control.outcome ?? endDevice.outcomeOf(listed.mrid);
  const program = endDevice.programs.find((each) => each.listed.key === programKey);
  return {
    mrid: listed.mrid,
    href: listed.href,
    description: listed.description,
    version: listed.version,
    programHref: program?.listed.href ?? programKey,
    primacy,
    state,
    creationServerMs: ms(listed.creationS),
    startServerMs: ms(listed.startS),
    durationS: listed.durationS,
    effectiveStartServerMs: ms(control.effectiveStartS),
    effectiveDurationS: control.effectiveDurationS,
    randomizeStartS: listed.randomizeStartS,
    randomizeDurationS: listed.randomizeDurationS,
    potentiallySuperseded: listed.potentiallySuperseded,
    responseRequired: listed.responseRequired,
    modes: showModes(listed.control),
    modesInForce: modesInForce.map(restName),
    leftOut: leftOutView(outcome?.leftOut),
    waiting: state === 'active' && outcome?.state === 'waiting',
    overwritten: outcome?.overwritten ?? false,
    optedOut,
    responses: responsesView(member, listed.mrid),
    endDeviceLfdi: endDevice.lfdi,
    deviceIndices: endDevice.deviceIndices,
  };
}

/** A control as an event, for the stream of events. */
export function eventView(control: KnownControl, endDevice: EndDevice): CsipEvent {
  const { listed, programKey, primacy, state, started, effectiveStartS, effectiveDurationS } = control;
  const program = endDevice.programs.find((each) => each.listed.key === programKey);
  const nextS =
    state === 'scheduled' ? effectiveStartS : state === 'active' ? effectiveStartS + effectiveDurationS : null;
  return {
    mrid: listed.mrid,
    programHref: program?.listed.href ?? programKey,
    programMrid: program?.mrid ?? null,
    primacy,
    state,
    endDeviceLfdi: endDevice.lfdi,
    deviceIndices: endDevice.deviceIndices,
    started,
    nextAt: (nextS === null ? null : endDevice.simOf(nextS)) ?? Infinity,
  };
}

/** The controls of an EndDevice, latest start first. */
export function controlsView(member: FullMember): readonly CsipControl[] {
  return member.endDevice.controls
    .map((control) => controlView(control, member))
    .sort((a, b) => b.startServerMs - a.startServerMs);
}
