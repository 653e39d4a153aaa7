"use client";

import * as React from "react";

import { cn } from "@/lib/utils";

type Row = Record<string, string | number>;
type Series = { key: string; label?: string; color?: string };
type Point = { x: number; y: number };

type ChartProps = Omit<React.ComponentProps<"div">, "children"> & {
  /** One row per place on the x axis. */
  data: Row[];
  /** The key of a row that names its place. */
  x: string;
  /** What is drawn, first to last; colours default to `--chart-1` … `--chart-5`. */
  series: Series[];
  height?: number;
  /** Writes a value on the axis and in the tooltip. */
  format?: (value: number) => string;
  legend?: boolean;
  axis?: boolean;
};

const GAP = { top: 12, right: 12, bottom: 26 };
const LETTER = 6.5; // a digit of the axis is about so wide

function colorOf(series: Series, index: number) {
  return series.color ?? `var(--chart-${(index % 5) + 1})`;
}

function compact(value: number) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

function numberAt(row: Row, key: string) {
  return Number(row[key] ?? 0);
}

/** Round steps that enclose 0 and every value: 0, 25, 50, … */
function ticksOf(values: number[], wanted = 4) {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const rough = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** A smooth path through the points that never overshoots between two of them. */
function smooth(points: Point[]) {
  return points.reduce((path, point, index) => {
    if (index === 0) return `M${point.x},${point.y}`;
    const before = points[index - 1];
    const middle = (before.x + point.x) / 2;
    return `${path}C${middle},${before.y} ${middle},${point.y} ${point.x},${point.y}`;
  }, "");
}

function useWidth(initial: number) {
  const ref = React.useRef<HTMLDivElement>(null);
  const [width, setWidth] = React.useState(initial);
  React.useEffect(() => {
    if (!ref.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(120, entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

type Scale = {
  width: number;
  height: number;
  left: number;
  right: number;
  floor: number;
  place: (index: number) => number;
  band: number;
  level: (value: number) => number;
};

type FrameProps = ChartProps & {
  stacked?: boolean;
  banded?: boolean;
  draw: (scale: Scale, hovered: number | null) => React.ReactNode;
};

/** Axes, grid, legend and tooltip; `draw` puts the marks in between. */
function Frame({
  data,
  x,
  series,
  height = 240,
  format = compact,
  legend = series.length > 1,
  axis = true,
  stacked = false,
  banded = false,
  draw,
  className,
  ...props
}: FrameProps) {
  const [ref, width] = useWidth(640);
  const [hovered, setHovered] = React.useState<number | null>(null);
  const values = data.flatMap((row) => {
    const each = series.map((one) => numberAt(row, one.key));
    return stacked ? [each.reduce((sum, value) => sum + value, 0)] : each;
  });
  const ticks = ticksOf(values);
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const left = axis ? Math.max(...ticks.map((tick) => format(tick).length)) * LETTER + 14 : 4;
  const right = width - (axis ? GAP.right : 4);
  const floor = height - (axis ? GAP.bottom : 4);
  const band = (right - left) / Math.max(1, data.length);
  const scale: Scale = {
    width,
    height,
    left,
    right,
    floor,
    band,
    place: (index) =>
      banded || data.length < 2 ? left + band * (index + 0.5) : left + ((right - left) * index) / (data.length - 1),
    level: (value) => floor - ((value - low) / (high - low || 1)) * (floor - GAP.top),
  };
  const every = Math.ceil(data.length / Math.max(2, Math.floor(width / 64)));

  function follow(event: React.PointerEvent<SVGSVGElement>) {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const index = banded
      ? Math.floor((at - left) / band)
      : Math.round(((at - left) / (right - left)) * (data.length - 1));
    setHovered(Math.min(data.length - 1, Math.max(0, index)));
  }

  const row = hovered === null ? undefined : data[hovered];
  return (
    <div data-slot="chart" ref={ref} className={cn("relative w-full min-w-0 text-xs", className)} {...props}>
      {legend && (
        <ul className="mb-3 flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground">
          {series.map((one, index) => (
            <li key={one.key} className="flex items-center gap-1.5">
              <span className="size-2 rounded-full" style={{ background: colorOf(one, index) }} />
              {one.label ?? one.key}
            </li>
          ))}
        </ul>
      )}
      <div className="relative">
        <svg
          role="img"
          aria-label={series.map((one) => one.label ?? one.key).join(", ")}
          viewBox={`0 0 ${width} ${height}`}
          className="block h-auto w-full touch-pan-y"
          onPointerMove={follow}
          onPointerLeave={() => setHovered(null)}
        >
          {axis &&
            ticks.map((tick) => (
              <g key={tick}>
                <line
                  x1={left}
                  x2={right}
                  y1={scale.level(tick)}
                  y2={scale.level(tick)}
                  stroke="var(--border)"
                  strokeDasharray={tick === 0 ? undefined : "3 4"}
                />
                <text
                  x={left - 8}
                  y={scale.level(tick)}
                  dy="0.32em"
                  textAnchor="end"
                  fill="var(--muted-foreground)"
                  fontSize={11}
                >
                  {format(tick)}
                </text>
              </g>
            ))}
          {axis &&
            data.map((one, index) =>
              index % every === 0 ? (
                <text
                  key={index}
                  x={scale.place(index)}
                  y={height - 6}
                  textAnchor="middle"
                  fill="var(--muted-foreground)"
                  fontSize={11}
                >
                  {one[x]}
                </text>
              ) : null,
            )}
          {draw(scale, hovered)}
        </svg>
        {row && hovered !== null && (
          <div
            className="pointer-events-none absolute top-1 z-10 min-w-32 rounded-lg border bg-popover px-3 py-2 text-popover-foreground shadow-xl"
            style={
              scale.place(hovered) > width / 2
                ? { right: `${100 - (scale.place(hovered) / width) * 100 + 2}%` }
                : { left: `${(scale.place(hovered) / width) * 100 + 2}%` }
            }
          >
            <p className="mb-1 font-medium">{row[x]}</p>
            {series.map((one, index) => (
              <p key={one.key} className="flex items-center gap-2 whitespace-nowrap">
                <span className="size-2 rounded-[3px]" style={{ background: colorOf(one, index) }} />
                <span className="text-muted-foreground">{one.label ?? one.key}</span>
                <span className="ml-auto pl-3 font-mono tabular-nums">{format(numberAt(row, one.key))}</span>
              </p>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

function Lines({
  data,
  series,
  scale,
  hovered,
  filled,
}: Pick<ChartProps, "data" | "series"> & { scale: Scale; hovered: number | null; filled: boolean }) {
  const id = React.useId();
  return (
    <>
      {hovered !== null && (
        <line
          x1={scale.place(hovered)}
          x2={scale.place(hovered)}
          y1={GAP.top}
          y2={scale.floor}
          stroke="var(--muted-foreground)"
          strokeOpacity={0.4}
        />
      )}
      {series.map((one, index) => {
        const color = colorOf(one, index);
        const points = data.map((row, at) => ({ x: scale.place(at), y: scale.level(numberAt(row, one.key)) }));
        const path = smooth(points);
        return (
          <g key={one.key}>
            {filled && (
              <>
                <linearGradient id={`${id}-${index}`} x1="0" x2="0" y1="0" y2="1">
                  <stop offset="0%" stopColor={color} stopOpacity={0.35} />
                  <stop offset="100%" stopColor={color} stopOpacity={0.02} />
                </linearGradient>
                <path
                  d={`${path}L${scale.place(data.length - 1)},${scale.floor}L${scale.place(0)},${scale.floor}Z`}
                  fill={`url(#${id}-${index})`}
                />
              </>
            )}
            <path d={path} fill="none" stroke={color} strokeWidth={2} strokeLinecap="round" strokeLinejoin="round" />
            {hovered !== null && points[hovered] && (
              <circle
                cx={points[hovered].x}
                cy={points[hovered].y}
                r={4}
                fill={color}
                stroke="var(--card)"
                strokeWidth={2}
              />
            )}
          </g>
        );
      })}
    </>
  );
}

/** Values over time as lines. */
function LineChart(props: ChartProps) {
  return (
    <Frame
      {...props}
      draw={(scale, hovered) => (
        <Lines data={props.data} series={props.series} scale={scale} hovered={hovered} filled={false} />
      )}
    />
  );
}

/** Lines with the ground below them filled. */
function AreaChart(props: ChartProps) {
  return (
    <Frame
      {...props}
      draw={(scale, hovered) => (
        <Lines data={props.data} series={props.series} scale={scale} hovered={hovered} filled />
      )}
    />
  );
}

/** Bars side by side, or on top of each other when `stacked`. */
function BarChart({ stacked = false, ...props }: ChartProps & { stacked?: boolean }) {
  const { data, series } = props;
  function bars(scale: Scale, hovered: number | null) {
    const columns = stacked ? 1 : series.length;
    const thick = Math.min(44, (scale.band * 0.64) / columns);
    return data.map((row, at) => {
      let base = 0;
      return (
        <g key={at} opacity={hovered === null || hovered === at ? 1 : 0.45} className="transition-opacity">
          {series.map((one, index) => {
            const value = numberAt(row, one.key);
            const from = scale.level(stacked ? base : 0);
            const to = scale.level(stacked ? base + value : value);
            base += value;
            return (
              <rect
                key={one.key}
                x={scale.place(at) - (thick * columns) / 2 + (stacked ? 0 : index * thick) + 1}
                y={Math.min(from, to)}
                width={Math.max(1, thick - 2)}
                height={Math.abs(from - to)}
                rx={Math.min(4, thick / 4)}
                fill={colorOf(one, index)}
              />
            );
          })}
        </g>
      );
    });
  }
  return <Frame {...props} stacked={stacked} banded draw={bars} />;
}

type Slice = { label: string; value: number; color?: string };
type DonutProps = Omit<React.ComponentProps<"div">, "children"> & {
  data: Slice[];
  size?: number;
  thickness?: number;
  /** What stands in the middle. */
  center?: React.ReactNode;
  legend?: boolean;
  format?: (value: number) => string;
};

/** Parts of a whole. */
function DonutChart({
  data,
  size = 180,
  thickness = 22,
  center,
  legend = true,
  format = compact,
  className,
  ...props
}: DonutProps) {
  const [hovered, setHovered] = React.useState<number | null>(null);
  const total = data.reduce((sum, slice) => sum + slice.value, 0) || 1;
  const radius = (size - thickness) / 2;
  const around = 2 * Math.PI * radius;
  const space = data.length > 1 ? 3 : 0;
  const before = data.map((_, index) => data.slice(0, index).reduce((sum, slice) => sum + slice.value, 0));
  return (
    <div
      data-slot="chart"
      className={cn("flex flex-wrap items-center justify-center gap-6 text-sm", className)}
      {...props}
    >
      <div className="relative" style={{ width: size, height: size }}>
        <svg role="img" aria-label={data.map((slice) => slice.label).join(", ")} viewBox={`0 0 ${size} ${size}`}>
          {data.map((slice, index) => (
            <circle
              key={slice.label}
              cx={size / 2}
              cy={size / 2}
              r={radius}
              fill="none"
              stroke={colorOf({ key: slice.label, color: slice.color }, index)}
              strokeWidth={hovered === index ? thickness + 4 : thickness}
              strokeDasharray={`${Math.max(0, (slice.value / total) * around - space)} ${around}`}
              strokeDashoffset={-(before[index] / total) * around}
              transform={`rotate(-90 ${size / 2} ${size / 2})`}
              opacity={hovered === null || hovered === index ? 1 : 0.45}
              className="transition-[opacity,stroke-width]"
              onPointerEnter={() => setHovered(index)}
              onPointerLeave={() => setHovered(null)}
            />
          ))}
        </svg>
        <div className="pointer-events-none absolute inset-0 flex flex-col items-center justify-center text-center">
          {hovered === null ? (
            center
          ) : (
            <>
              <span className="text-xl font-semibold tabular-nums">
                {Math.round((data[hovered].value / total) * 100)}%
              </span>
              <span className="text-xs text-muted-foreground">{data[hovered].label}</span>
            </>
          )}
        </div>
      </div>
      {legend && (
        <ul className="grid min-w-36 flex-1 gap-2">
          {data.map((slice, index) => (
            <li
              key={slice.label}
              className="flex items-center gap-2"
              onPointerEnter={() => setHovered(index)}
              onPointerLeave={() => setHovered(null)}
            >
              <span
                className="size-2.5 rounded-[3px]"
                style={{ background: colorOf({ key: slice.label, color: slice.color }, index) }}
              />
              <span className="text-muted-foreground">{slice.label}</span>
              <span className="ml-auto font-mono tabular-nums">{format(slice.value)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type SparklineProps = Omit<React.ComponentProps<"svg">, "values" | "color"> & { values: number[]; color?: string };

/** A line the size of a word. */
function Sparkline({ values, color = "var(--chart-1)", className, ...props }: SparklineProps) {
  const id = React.useId();
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map((value, index) => ({
    x: (index / Math.max(1, values.length - 1)) * 100,
    y: 28 - ((value - low) / span) * 24,
  }));
  const path = smooth(points);
  return (
    <svg
      data-slot="sparkline"
      aria-hidden="true"
      viewBox="0 0 100 32"
      preserveAspectRatio="none"
      className={cn("h-8 w-full", className)}
      {...props}
    >
      <linearGradient id={id} x1="0" x2="0" y1="0" y2="1">
        <stop offset="0%" stopColor={color} stopOpacity={0.35} />
        <stop offset="100%" stopColor={color} stopOpacity={0} />
      </linearGradient>
      <path d={`${path}L100,32L0,32Z`} fill={`url(#${id})`} />
      <path d={path} fill="none" stroke={color} strokeWidth={2} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

export { AreaChart, BarChart, DonutChart, LineChart, Sparkline };
