"use client";

import { useState } from "react";
import { BatteryCharging, Sun, Zap } from "lucide-react";

import { Card, CardAction, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { AreaChart, BarChart, DonutChart, LineChart } from "@/components/ui/chart";
import { Tabs, TabsList, TabsTrigger } from "@/components/ui/tabs";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const sun = [110, 170, 310, 420, 520, 560, 570, 500, 380, 240, 130, 90];
const wind = [240, 220, 200, 160, 130, 110, 100, 110, 150, 190, 230, 250];
const used = [430, 400, 370, 330, 300, 290, 300, 310, 320, 350, 390, 440];

const rows = months.map((month, index) => ({ month, sun: sun[index], wind: wind[index], used: used[index] }));
const day = [1, 1, 1, 2, 3, 5, 9, 14, 19, 23, 26, 28, 27, 25, 22, 17, 12, 8, 5, 3, 2, 1, 1, 1].map((made, hour) => ({
  hour: `${hour}:00`,
  made,
  used: [6, 5, 5, 5, 6, 8, 12, 14, 11, 9, 9, 10, 12, 10, 9, 9, 11, 15, 18, 19, 17, 14, 10, 7][hour],
}));

const kwh = (value: number) => `${Math.round(value)} kWh`;

const facts = [
  {
    icon: Sun,
    name: "Produced",
    value: "6,090 kWh",
    text: "11% more than last year",
    look: "bg-chart-3/15 text-chart-3",
  },
  { icon: Zap, name: "Used", value: "4,230 kWh", text: "4% less than last year", look: "bg-chart-1/15 text-chart-1" },
  {
    icon: BatteryCharging,
    name: "Exported",
    value: "1,860 kWh",
    text: "Enough for a small car",
    look: "bg-chart-2/15 text-chart-2",
  },
];

export function EnergyReport() {
  const [kind, setKind] = useState("area");
  const series = [
    { key: "sun", label: "Sun", color: "var(--chart-3)" },
    { key: "wind", label: "Wind", color: "var(--chart-2)" },
    { key: "used", label: "Used", color: "var(--chart-1)" },
  ];
  return (
    <>
      <section aria-label="The year in three numbers" className="grid gap-4 sm:grid-cols-3">
        {facts.map(({ icon: Icon, ...fact }) => (
          <Card key={fact.name} className="flex-row items-center gap-5 px-6">
            <span className={`grid size-12 shrink-0 place-items-center rounded-2xl ${fact.look}`}>
              <Icon className="size-5" />
            </span>
            <div>
              <p className="text-sm text-muted-foreground">{fact.name}</p>
              <p className="text-2xl font-semibold tracking-tight tabular-nums">{fact.value}</p>
              <p className="text-xs text-muted-foreground">{fact.text}</p>
            </div>
          </Card>
        ))}
      </section>
      <Card>
        <CardHeader>
          <CardTitle>Month by month</CardTitle>
          <CardDescription>Hover over the chart to see the values</CardDescription>
          <CardAction>
            <Tabs value={kind} onValueChange={setKind}>
              <TabsList>
                <TabsTrigger value="area">Area</TabsTrigger>
                <TabsTrigger value="lines">Lines</TabsTrigger>
                <TabsTrigger value="bars">Bars</TabsTrigger>
              </TabsList>
            </Tabs>
          </CardAction>
        </CardHeader>
        <CardContent>
          {kind === "area" && <AreaChart data={rows} x="month" series={series} height={320} format={kwh} />}
          {kind === "lines" && <LineChart data={rows} x="month" series={series} height={320} format={kwh} />}
          {kind === "bars" && <BarChart data={rows} x="month" series={series} height={320} format={kwh} />}
        </CardContent>
      </Card>
      <section className="grid grid-cols-1 gap-6 lg:grid-cols-[1.4fr_1fr]">
        <Card>
          <CardHeader>
            <CardTitle>A day in June</CardTitle>
            <CardDescription>Production and use, hour by hour</CardDescription>
          </CardHeader>
          <CardContent>
            <BarChart
              data={day.filter((_, hour) => hour % 2 === 0)}
              x="hour"
              series={[
                { key: "used", label: "Used", color: "var(--chart-1)" },
                { key: "made", label: "Produced", color: "var(--chart-3)" },
              ]}
              stacked
              height={240}
              format={kwh}
            />
          </CardContent>
        </Card>
        <Card>
          <CardHeader>
            <CardTitle>Use by category</CardTitle>
            <CardDescription>Share of the total</CardDescription>
          </CardHeader>
          <CardContent className="my-auto">
            <DonutChart
              data={[
                { label: "Heating", value: 1860 },
                { label: "Kitchen", value: 890 },
                { label: "Car", value: 760 },
                { label: "Light", value: 310 },
                { label: "Rest", value: 410 },
              ]}
              format={kwh}
              center={
                <>
                  <span className="text-2xl font-semibold">44%</span>
                  <span className="text-xs text-muted-foreground">for heat</span>
                </>
              }
            />
          </CardContent>
        </Card>
      </section>
    </>
  );
}
