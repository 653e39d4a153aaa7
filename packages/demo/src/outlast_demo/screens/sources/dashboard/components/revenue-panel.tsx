"use client";

import { useState } from "react";

import { Card, CardAction, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { AreaChart, DonutChart } from "@/components/ui/chart";
import { Tabs, TabsList, TabsTrigger } from "@/components/ui/tabs";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const shop = [21, 24, 22, 29, 31, 30, 36, 35, 41, 43, 46, 52];
const market = [9, 10, 14, 12, 15, 19, 17, 22, 20, 24, 27, 29];

const year = months.map((month, index) => ({ at: month, shop: shop[index] * 1000, market: market[index] * 1000 }));
const week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map((day, index) => ({
  at: day,
  shop: [1500, 1720, 1610, 1980, 2240, 2710, 2390][index],
  market: [640, 720, 810, 760, 980, 1240, 1120][index],
}));

const channels = [
  { label: "Search", value: 18_400 },
  { label: "Newsletter", value: 12_900 },
  { label: "Social", value: 9_600 },
  { label: "Direct", value: 7_300 },
];

const dollars = (value: number) =>
  new Intl.NumberFormat("en", { style: "currency", currency: "USD", notation: "compact" }).format(value);

export function RevenuePanel() {
  const [range, setRange] = useState("year");
  return (
    <section className="grid grid-cols-1 gap-4 xl:grid-cols-3">
      <Card className="xl:col-span-2">
        <CardHeader>
          <CardTitle>Revenue</CardTitle>
          <CardDescription>Your shop compared with marketplaces</CardDescription>
          <CardAction>
            <Tabs value={range} onValueChange={setRange}>
              <TabsList>
                <TabsTrigger value="week">Week</TabsTrigger>
                <TabsTrigger value="year">Year</TabsTrigger>
              </TabsList>
            </Tabs>
          </CardAction>
        </CardHeader>
        <CardContent>
          <AreaChart
            data={range === "year" ? year : week}
            x="at"
            series={[
              { key: "shop", label: "Own shop" },
              { key: "market", label: "Marketplaces" },
            ]}
            height={280}
            format={dollars}
          />
        </CardContent>
      </Card>
      <Card>
        <CardHeader>
          <CardTitle>Sales channels</CardTitle>
          <CardDescription>Revenue by channel, this month</CardDescription>
        </CardHeader>
        <CardContent className="my-auto">
          <DonutChart
            data={channels}
            format={dollars}
            center={
              <>
                <span className="text-2xl font-semibold tracking-tight">$48.2K</span>
                <span className="text-xs text-muted-foreground">in April</span>
              </>
            }
          />
        </CardContent>
      </Card>
    </section>
  );
}
